"""What ``nsys recipe nsysan_overview`` runs: reads each report as a task of nsys' own engine, then writes results.

Of nsys' package it uses the base class and the names of options alone, which stay what they are in later releases.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import nsys_recipe
from nsys_recipe.lib import recipe
from nsys_recipe.lib.args import Option

from nsysan.ingest.nsys.installation import ENVIRONMENT_VARIABLE
from nsysan.model.errors import NsysanError
from nsysan.model.run import Run
from nsysan.model.run_json import encode_run
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.report_tasks import Order, Outcome, outcome_of, read_packed
from nsysan.recipe.tables import tables_of
from nsysan.report.renderers import renderers


class NsysanOverview(recipe.Recipe):  # type: ignore[misc]  # nsys' package is there only where nsys runs this
    """The recipe: nsys makes it, and calls ``run`` with its engine as the context."""

    def run(self, context: Any) -> None:
        """Write page, run.json and tables into the folder that nsys made."""
        super().run(context)

        def read(paths: Sequence[Path], options: Order) -> Iterator[Outcome]:
            packed = context.wait(context.map(read_packed, [str(path.absolute()) for path in paths], options=options))
            return map(outcome_of, packed)

        reports = [Path(path) for path in self._parsed_args.input]
        try:
            found = analyze(reports, AnalyzeOptions(nsys=_own_nsys()), read=read)
        except NsysanError as error:
            # nsys would print where in the code it was raised
            raise SystemExit(f"{error.message} {error.hint}") from None
        self._write(found)

    def _write(self, found: Run) -> None:
        Path(self.add_output_file("nsysan.html")).write_text(renderers()["html"].render(found), encoding="utf-8")
        Path(self.add_output_file("run.json")).write_bytes(encode_run(found))
        for name, table in tables_of(found).items():
            table.to_parquet(self.add_output_file(f"{name}.parquet"))
        ended = datetime.now(timezone.utc)
        self._analysis_dict.update(
            {"EndTime": str(ended), "InputFiles": self._parsed_args.input, "Outputs": self._output_files}
        )
        self.create_analysis_file()

    @classmethod
    def get_argument_parser(cls) -> ArgumentParser:
        """The parser of the recipe's own options."""
        parser: ArgumentParser = super().get_argument_parser()
        for option in (Option.INPUT, Option.OUTPUT, Option.FORCE_OVERWRITE):
            parser.add_recipe_argument(option)  # type: ignore[attr-defined]  # nsys' own parser
        return parser


def _own_nsys() -> str | None:
    """The nsys that runs this, which lies above its package and need not be on PATH; None where another is named."""
    if os.environ.get(ENVIRONMENT_VARIABLE):
        return None
    above = (folder / "nsys" for folder in Path(nsys_recipe.__file__).resolve().parents)
    return next((str(path) for path in above if path.is_file() and os.access(path, os.X_OK)), None)
