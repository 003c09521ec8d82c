#!/usr/bin/env bash
# openpyxl 3.1.5 cannot open a workbook with a chart sheet that has no chart, although it saves one: no sheet of it is read.
#
# A chart sheet has its chart in a drawing of its own, which the relations of the sheet name. Without a chart there are no
# relations, and then `WorkbookReader.read_chartsheet` (openpyxl/reader/excel.py) puts an empty list where it next calls a
# method of its list of relations. The error names neither file nor sheet, and `read_only=True`, with which cells alone are
# read, does not help, as charts are looked for there, too. So one sheet without content hides all rows of the others from
# whoever reads workbooks for their text.
#
# Seen on 1 December 2026, with Python 3.11:
#   with a chart:    ['Prices', 'Chart']
#   without one:     AttributeError: 'list' object has no attribute 'find'
#   read only:       AttributeError: 'list' object has no attribute 'find'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openpyxl==3.1.5

cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference


def saved(name, *, charted):
    workbook = Workbook()
    prices = workbook.active
    prices.title = "Prices"
    for row in [("apples", 3), ("pears", 4)]:
        prices.append(row)
    sheet = workbook.create_chartsheet("Chart")
    if charted:
        chart = BarChart()
        chart.add_data(Reference(prices, min_col=2, min_row=1, max_row=2))
        sheet.add_chart(chart)
    workbook.save(name)
    return name


def opened(name, **options):
    try:
        return str(load_workbook(name, **options).sheetnames)
    except AttributeError as error:
        return f"AttributeError: {error}"


charted = opened(saved("charted.xlsx", charted=True))
empty = opened(saved("empty.xlsx", charted=False))
read_only = opened("empty.xlsx", read_only=True)
print(f"with a chart:    {charted}")
print(f"without one:     {empty}")
print(f"read only:       {read_only}")
if charted != "['Prices', 'Chart']" or "AttributeError" not in empty or "AttributeError" not in read_only:
    sys.exit("this has changed")
PYTHON
