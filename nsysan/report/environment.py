"""The templates with everything that keeps a page safe: escaping, strict names, visible text, and its own assets."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from nsysan.model.text import visible_text
from nsysan.report.fills import LIGHTS, fill_rules
from nsysan.report.flags import prose
from nsysan.report.prose import unbroken

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATE_PACKAGE = "nsysan_templates"


@cache
def page_environment() -> Environment:
    """The environment every template is rendered in; what it prints is escaped, control characters spelt out."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from nsysan.report.compiled_templates import compiled_templates

    loader = PackageLoader(TEMPLATE_PACKAGE, "")
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=loader,
        bytecode_cache=compiled_templates(TEMPLATE_PACKAGE),
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = unbroken
    environment.filters["prose"] = prose
    environment.globals["lights"] = LIGHTS
    return environment


@cache
def page_style() -> Markup:
    """The page's style sheet: our own files, and the rules of the fills."""
    from markupsafe import Markup

    return inline_asset("css") + Markup(fill_rules())  # noqa: S704 - nothing but our own names


@cache
def inline_asset(suffix: str, folder: str = "assets") -> Markup:
    """Our own files in the folder of templates that end in the suffix, in order of name, as they stand in the page."""
    from markupsafe import Markup

    environment = page_environment()
    names = [name for name in environment.list_templates(extensions=[suffix]) if name.startswith(f"{folder}/")]
    if environment.loader is None:
        raise LookupError(f"package {TEMPLATE_PACKAGE} holds no templates")
    sources = [environment.loader.get_source(environment, name)[0] for name in sorted(names)]
    return Markup("\n" + "\n".join(sources))  # noqa: S704 - nothing but our own files


def content_security_policy(style: str, script: str) -> str:
    """The policy under which exactly this style and this script run, and nothing is ever fetched."""
    return (
        f"default-src 'none'; style-src '{_source_hash(style)}'; script-src '{_source_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _finalize(value: Any) -> Any:
    """Text of ours and of the trace alike with nothing hidden in it; markup as it is."""
    return visible_text(value) if type(value) is str else value
