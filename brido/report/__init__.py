"""Numbers with intervals, tables, figures and the page: everything that people look at."""
