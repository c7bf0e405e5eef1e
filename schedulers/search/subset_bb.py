"""Draft driver."""
PB=50000
SEED=True
MF=2000
STAT=[]
import sys; sys.path.insert(0,'/tmp/w')
from mf import maxfill
def path(t,u,tot,x):
    n=len(u); p=np.zeros(n,bool)
    for d in range(n):
        if t[d+1,x]!=t[d,x] or t[d+1,x]<0 or t[d+1,x]==np.iinfo(np.int64).max:
            p[d]=True; x-=u[d]
    return p


import numpy as np
from schedulers.search import subset_bb_kernels as k

def tables(units, sizes, waits, must, F, with_waits=True):
    n=len(units)
    INF=np.iinfo(np.int64).max
    least=np.full((n+1,F+1),INF,np.int64); most=np.full((n+1,F+1),-1,np.int64)
    least[n,0]=0; most[n,0]=0
    T=np.full((n+1,F+1,n+1) if with_waits else (1,1,1),-np.inf)
    if with_waits: T[n,0,0]=0
    for d in range(n-1,-1,-1):
        u=units[d]; s=u*sizes[d]
        if not must[d]:
            least[d]=least[d+1]; most[d]=most[d+1]
            if with_waits: T[d]=T[d+1]
        if u<=F:
            a=least[d+1,:F+1-u]; a=np.where(a==INF,INF,a+s)
            least[d,u:]=np.minimum(least[d,u:],a)
            b=most[d+1,:F+1-u]; b=np.where(b<0,-1,b+s)
            most[d,u:]=np.maximum(most[d,u:],b)
            if with_waits:
                T[d,u:,1:]=np.maximum(T[d,u:,1:],T[d+1,:F+1-u,:-1]+waits[d])
    return least,most,T

def solve(units,sizes,waits,free,rooms,units_first=True,must=None,budget=100000,pb=PB, order=None):
    n=len(units)
    must=np.zeros(n,bool) if must is None else must
    F=int(min(free,units.sum()))
    o=np.lexsort((np.arange(n),-units,-sizes)) if order is None else order
    u,s,w,m=units[o],sizes[o],waits[o],must[o]
    least,most,T=tables(u,s,w,m,F)
    R=int(rooms.sum())
    if MF:
        kk=(s>0)&(u<=F)
        R=sum(maxfill(u[kk],s[kk],int(r),MF) for r in rooms)
        STAT.append(R/max(1,rooms.sum()))
    L0=np.zeros((0,n),np.int64); l0=np.zeros(0,np.int64)
    best=np.zeros(n,bool); sc=np.full(3,-1.0); ob=np.full(3,-1.0)
    und=np.zeros((64,n),bool); ub=np.full((64,3),-1.0)
    tot=u*s
    paths=[]
    if SEED:
        ms=[x for x in range(F,-1,-1) if most[0,x]>=0 and least[0,x]<=R][:3]
        for x in ms:
            paths.append(path(least,u,tot,x)); 
            if most[0,x]<=R: paths.append(path(most,u,tot,x))
        orders=[np.argsort(key,kind='stable') for key in (-s,s,-u,u,-tot,tot,-w)]
        orders+=[np.concatenate([np.flatnonzero(p),np.flatnonzero(~p)]) for p in paths]
        cand=np.zeros(n,bool); cs=np.zeros(3)
        for od in orders:
            if k.fill(od.astype(np.int64),u,s,w,m,L0,l0,F,rooms,units_first,cand,cs) and tuple(cs)>tuple(sc):
                best=cand.copy(); sc=cs.copy()
    seed=sc.copy()
    lim=np.array([F,R],np.int64)
    steps=k.search(u,s,w,m,L0,l0,lim,rooms,least,most,T,units_first,budget,pb,best,sc,ob,und,ub)
    ch=np.zeros(n,bool); ch[o]=best
    return ch,sc,ob,und,ub,steps
