"""Classes from outside: a policy, a job model or a controller named as ``FILE.py:CLASS`` or ``MODULE:CLASS``.

``FILE.py`` suffices where the file has just one such class. Names that installed packages register are looked up in
:mod:`spillway.base.entry_points`.

Everything that can be chosen by name has one spelling: ``NAME[:key=value,...]``. :func:`split_spec` splits it; if the
name gives the place of a class, :func:`load_class` loads it::

    name, texts = split_spec("mine.py:Greedy:depth=3")
    greedy = build(load_class(name, "policy"), texts)

A class from outside is a frozen dataclass like spillway's own: its fields declared by
:func:`spillway.base.options.option` are its options. A fault in the file is raised as an
:class:`spillway.base.errors.OptionError` that names the file and the line.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

from spillway.base.errors import OptionError
from spillway.base.files import open_regular
from spillway.base.limits import InputError
from spillway.base.near import near
from spillway.base.neighbours import neighbours_of
from spillway.base.options import describe, show, split_assignments

OUTSIDE = "outside_"
"""Prefix of the names of modules from files."""

_SPEC = re.compile(r"(?P<name>[^:=]*\.py|[^:=]+)(?P<cls>:[^:=]+(?=:|$))?(?::(?P<options>.*))?", re.DOTALL)


def split_spec(text: str) -> tuple[str, dict[str, str]]:
    """Split ``NAME[:key=value,...]``, ``FILE.py:CLASS[:key=value,...]`` or ``MODULE:CLASS[:key=value,...]``.

    Parameters
    ----------
    text
        The user's text. A path must not contain ``:`` or ``=``; values may contain both, but no comma.

    Returns
    -------
    str
        The name, or ``FILE.py:CLASS``, or ``MODULE:CLASS``.
    dict
        Texts by option; ``-`` in a key counts as ``_``.

    Raises
    ------
    OptionError
        The name is missing, a piece is not ``key=value``, or a key is given twice.
    """
    found = _SPEC.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"expected NAME[:key=value,...] or FILE.py:CLASS[:key=value,...], got {text!r}")
    name, options = found["name"] + (found["cls"] or ""), found["options"]
    if options is None:
        return name, {}
    if not options.strip():
        raise OptionError(
            f"{text!r}: after the last colon key=value was expected; omit the colon if there is no option"
        )
    return name, split_assignments([piece.strip() for piece in options.split(",")])


def joined_spec(name: str, options: Mapping[str, Any]) -> str:
    """``NAME[:key=value,...]``, which :func:`split_spec` reads."""
    given = ",".join(f"{key}={show(value)}" for key, value in options.items())
    return f"{name}:{given}" if given else name


def is_outside(name: str) -> bool:
    """Whether a name is ``FILE.py``, ``FILE.py:CLASS`` or ``MODULE:CLASS``, not a name of a table or a package."""
    return ":" in name or name.endswith(".py")


def place_in(folder: Path, name: str) -> str:
    """Add a folder to ``FILE.py:CLASS`` if the file is in that folder; return any other name unchanged."""
    file = name.partition(":")[0]
    return str(folder / name) if file.endswith(".py") and (folder / file).is_file() else name


_untrusted: ContextVar[str] = ContextVar("untrusted", default="")
"""Reason why no code from outside may be loaded now; empty if it may."""


@contextmanager
def without_outside(reason: str) -> Iterator[None]:
    """Refuse code from outside of this package meanwhile: its name may come from a stranger's file."""
    token = _untrusted.set(reason)
    try:
        yield
    finally:
        _untrusted.reset(token)


_loading: ContextVar[str] = ContextVar("loading", default="")


def loading() -> str:
    """The file or module that is being loaded now for a class in it; "" without one."""
    return _loading.get()


def check_trusted(text: str, kind: str) -> None:
    """Raise :class:`OptionError` where a name from outside must not be loaded now (:func:`without_outside`)."""
    if (reason := _untrusted.get()) and not _is_ours(text):
        raise OptionError(f"{kind} {text!r} is code from outside: {reason}")


_OUR_MODULE = re.compile(r"spillway((?:\.[a-zA-Z_]\w*)+):\w+", re.ASCII)


def _is_ours(text: str) -> bool:
    """Whether ``MODULE:CLASS`` names a module by its place in this package; a text of a file's name never does."""
    found = _OUR_MODULE.fullmatch(text)
    if found is None:
        return False
    place = Path(__file__).resolve().parent.parent.joinpath(*found[1].split(".")[1:])
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def load_class(text: str, kind: str, *, methods: Sequence[str] = ()) -> type:
    """Load a class from a file or a module.

    The same file with the same content gives the same class; a changed file is loaded again.

    Parameters
    ----------
    text
        ``FILE.py:CLASS``, ``MODULE:CLASS`` or ``FILE.py``, without options (:func:`split_spec`).
    kind
        Kind of class, for messages: ``policy``, ``job model``, ``controller``.
    methods
        Names of methods that it must have.

    Returns
    -------
    type
        A frozen dataclass; :func:`spillway.base.options.build` makes an instance of it from texts.

    Raises
    ------
    OptionError
        The file or the module is missing or fails while it is loaded (with its line), the class is missing or is one of
        several, or it is no frozen dataclass whose fields are options or have defaults.
    """
    if text.endswith(".py"):
        return checked(_only(module_from_file(Path(text), kind), text, kind, methods), f"{kind} {text!r}", methods)
    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise OptionError(f"{kind} {text!r}: expected FILE.py:CLASS or MODULE:CLASS")
    module = module_from_file(Path(place), kind) if place.endswith(".py") else _from_module(place, kind)
    return checked(_found(module, place, name, kind), f"{kind} {text!r}", methods)


def module_from_file(path: Path, kind: str) -> ModuleType:
    """Load a file as a module; the same file with the same content gives the same module.

    It can import modules of its own folder; their contents are compared, too.

    Raises
    ------
    OptionError
        It cannot be read, or fails while it is loaded (with its line); or a module of its folder has the name of
        another one that is loaded. ``kind`` names the kind of class that it should contain.
    """
    try:
        with open_regular(path) as stream:
            content = stream.read()
    except InputError as error:
        raise OptionError(f"{kind} file {str(path)!r} {error}") from None
    whole = path.resolve()
    neighbours = neighbours_of(whole)
    contents = [content, *(file.read_bytes() for file in neighbours.values())]
    digest = hashlib.sha256(b"\0".join([str(whole).encode(), *contents])).hexdigest()[:16]
    module_name = f"{OUTSIDE}{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}_{digest}"
    known = sys.modules.get(module_name)
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(module_name, whole)
    assert spec is not None, "a path that ends in .py has a loader"
    _forget(neighbours, f"{kind} file {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their module up there
    sys.path.insert(0, str(whole.parent))
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # a neighbour's could be stale, too
    try:
        # compiled here: the loader would take stale bytecode of a file with the same size and time in seconds
        _guarded(lambda: exec(compile(content, str(whole), "exec"), module.__dict__), str(path), whole, kind)
    except OptionError:
        del sys.modules[module_name]
        raise
    finally:
        sys.path.remove(str(whole.parent))
        sys.dont_write_bytecode = kept
    return module


def _forget(neighbours: Mapping[str, Path], importer: str) -> None:
    """Unload the modules that a file imports from its folder: they may have changed, or be another folder's."""
    for name, file in neighbours.items():
        loaded = getattr(sys.modules.get(name), "__file__", None)
        if loaded and Path(loaded).resolve() != file:
            raise OptionError(
                f"{importer}: its neighbour {name!r} is loaded from {loaded} already; rename one of the two"
            )
    for name in neighbours:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def _from_module(name: str, kind: str) -> ModuleType:
    def load() -> None:
        importlib.import_module(name)

    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    except Exception as error:  # a parent package that fails
        raise OptionError(f"{kind} module {name!r} cannot be loaded: {type(error).__name__}: {error}") from None
    if spec is None:
        raise OptionError(f"{kind} module {name!r} is not found: expected a FILE.py or a module that Python can import")
    _guarded(load, name, Path(spec.origin or name), kind)
    return sys.modules[name]


def _guarded(load: Callable[[], None], shown: str, path: Path, kind: str) -> None:
    """Load; an exception becomes an error with the line of the file where it was raised."""
    token = _loading.set(shown)
    try:
        load()
    except SyntaxError as error:
        where = shown if error.filename in (None, str(path)) else f"{shown}: {error.filename}"
        line = f", line {error.lineno}" if error.lineno else ""
        raise OptionError(f"{kind} {where}{line}: {error.msg}") from None
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = f", line {lines[-1]}" if lines else ""
        raise OptionError(f"{kind} {shown}{line}: {type(error).__name__}: {error}") from None
    finally:
        _loading.reset(token)


def _found(module: ModuleType, place: str, name: str, kind: str) -> type:
    found = getattr(module, name, None)
    if isinstance(found, type):
        return found
    if callable(found) and kind == "policy" and hasattr(found, "__qualname__"):
        try:
            inspect.signature(found).bind(None)
        except (TypeError, ValueError) as error:
            raise OptionError(f"{kind} {place}:{name}: a function must take its view alone: {error}") from None
        return _of_function(found)
    own = sorted(key for key, value in vars(module).items() if isinstance(value, type) and _is_own(value, module))
    if found is not None:
        raise OptionError(f"{kind} {place}:{name} is no class but {type(found).__name__}; {_listed(own)}")
    raise OptionError(f"{kind} file {place!r} has no class {name!r}; {_listed(own)}{near(name, own)}")


def _of_function(function: Callable[..., object]) -> type:
    """A class without options whose instances call a function."""

    def call(_: object, *given: object) -> object:
        return function(*given)

    names = {"__call__": call, "__doc__": function.__doc__}
    return dataclasses.make_dataclass(function.__name__, (), frozen=True, namespace=names)


def _only(module: ModuleType, place: str, kind: str, methods: Sequence[str]) -> type:
    """The only class of a file that can be of this kind; classes with names that begin with ``_`` do not count."""
    found = [
        value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and _is_own(value, module)
        and not name.startswith("_")
        and value.__name__ == name  # further names of a class do not count
        and _is_frozen(value)
        and all(hasattr(value, method) for method in methods)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        names = [cls.__name__ for cls in found]
        raise OptionError(f"{kind} file {place!r} has {len(found)} classes, {', '.join(names)}: say {place}:{names[0]}")
    own = sorted(key for key, value in vars(module).items() if isinstance(value, type) and _is_own(value, module))
    need = f" with a method {' and '.join(methods)}" if methods else ""
    raise OptionError(f"{kind} file {place!r} has no frozen dataclass{need}; {_listed(own)}")


def _is_frozen(cls: type) -> bool:
    parameters = vars(cls).get("__dataclass_params__")
    return parameters is not None and bool(parameters.frozen)


def _is_own(cls: type, module: ModuleType) -> bool:
    return cls.__module__ == module.__name__


def _listed(names: Sequence[str]) -> str:
    return f"its classes are {', '.join(names)}" if names else "it has no class of its own"


def checked(cls: type, shown: str, methods: Sequence[str]) -> type:
    """Return the class if it is a frozen dataclass with these methods, whose fields are options or have defaults.

    Otherwise raise :class:`OptionError`, in which ``shown`` names it.
    """
    if not _is_frozen(cls):
        raise OptionError(f"{shown} must be a frozen dataclass: write @dataclass(frozen=True) above it")
    try:
        options = {info.name for info in describe(cls)}
    except (TypeError, NameError) as error:
        raise OptionError(f"{shown}: {error}") from None
    for field in dataclasses.fields(cls):
        bare = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.init and bare and field.name not in options:
            raise OptionError(
                f"{shown}: its field {field.name!r} has no default: declare it by spillway.base.options.option(...)"
            )
    missing = [name for name in methods if not any(name in vars(base) for base in cls.__mro__)]
    if missing:
        raise OptionError(f"{shown} has no method {missing[0]}; expected are {', '.join(methods)}")
    return cls
