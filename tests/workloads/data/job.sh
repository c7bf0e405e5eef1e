#!/bin/sh
#SBATCH --nodes=3
#DW jobdw type=xfs \
#DW capacity=2GB name=out
#DW persistentdw name=inputs
#DW stage_in type=file source=/home/a destination=$DW_JOB_out/a
srun ./a
