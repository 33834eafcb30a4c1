//! Draws rows as a table whose columns fit the terminal.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableStyle, Width};

use super::Style;
use super::columns::{CellFormatter, Column};
use scoring::run_summary::{CaseGroup, EngineLine};

/// Blanks before every column; those of the first column are the table's indentation.
const GAP: u16 = 2;

/// One colour per engine, the same in all rows: cyan, yellow, magenta, green.
const ENGINE_COLORS: [&str; 4] = ["36", "33", "35", "32"];

/// Lines with their names; only the first line of a group has one.
pub(super) type NamedLines<'a> = Vec<(&'a str, &'a EngineLine)>;

/// Returns the lines of all groups.
pub(super) fn rows<'a>(groups: impl IntoIterator<Item = (&'a str, &'a CaseGroup)>) -> NamedLines<'a> {
    groups
        .into_iter()
        .flat_map(|(name, group)| {
            group
                .lines
                .iter()
                .enumerate()
                .map(move |(index, line)| (if index == 0 { name } else { "" }, line))
        })
        .collect()
}

/// Columns that fit, with equal widths in all tables of the layout, so that numbers are aligned.
pub(super) struct TableLayout {
    columns: Vec<Column>,
    widths: Vec<u16>,
}

impl TableLayout {
    /// Returns the first of the candidates, widest first, in which all rows fit `width`, or the last one.
    pub(super) fn fitting<'a, 'b: 'a>(
        numbers: &CellFormatter,
        candidates: &[&[Column]],
        tables: impl IntoIterator<Item = &'a NamedLines<'b>>,
        width: usize,
    ) -> TableLayout {
        let rows: NamedLines<'_> = tables.into_iter().flatten().copied().collect();
        let mut layouts =
            candidates.iter().map(|columns| TableLayout::measure(numbers, columns, &rows)).peekable();
        while let Some(layout) = layouts.next() {
            if layout.width() <= width || layouts.peek().is_none() {
                return layout;
            }
        }
        TableLayout { columns: Vec::new(), widths: Vec::new() }
    }

    fn measure(numbers: &CellFormatter, columns: &[Column], rows: &NamedLines<'_>) -> TableLayout {
        let columns: Vec<Column> = columns.iter().copied().filter(|column| numbers.needs(*column)).collect();
        let widths = filled(numbers, &columns, "", rows).column_max_content_widths();
        TableLayout { columns, widths }
    }

    fn width(&self) -> usize {
        self.widths.iter().map(|width| usize::from(width + GAP)).sum()
    }

    /// Draws the rows with column titles; `label` is the first title.
    pub(super) fn draw(
        &self,
        numbers: &CellFormatter,
        label: &str,
        rows: &NamedLines<'_>,
        style: Style,
    ) -> String {
        let mut table = filled(numbers, &self.columns, label, rows);
        for (drawn, width) in table.column_iter_mut().zip(&self.widths) {
            drawn.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width + GAP)));
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned());
        let engines = std::iter::once(None).chain(rows.iter().map(|(_, line)| Some(line.engine)));
        let painted = lines.zip(engines).map(|(text, engine)| match engine {
            None => style.dim(&text),
            Some(engine) if numbers.are_several => {
                style.colored(&text, ENGINE_COLORS[engine % ENGINE_COLORS.len()])
            }
            Some(_) => text,
        });
        painted.collect::<Vec<_>>().join("\n")
    }
}

fn filled(numbers: &CellFormatter, columns: &[Column], label: &str, rows: &NamedLines<'_>) -> Table {
    let header = columns.iter().map(|column| column.title(label));
    let body = rows
        .iter()
        .map(|(name, line)| columns.iter().map(|column| numbers.cell(*column, name, line)).collect());
    let mut table = plain(header.collect(), body);
    for (drawn, column) in table.column_iter_mut().zip(columns) {
        drawn.set_cell_alignment(if column.is_text() { CellAlignment::Left } else { CellAlignment::Right });
    }
    table
}

/// A table with independent columns: words aligned left, numbers aligned right.
pub struct TextTable<'a> {
    /// Titles of the columns.
    pub header: &'a [&'a str],
    /// Number of leading columns that contain words.
    pub words: usize,
    /// Columns that are dropped if there is no room, the first one first.
    pub dispensable: &'a [usize],
    /// Cells of each row.
    pub rows: Vec<Vec<String>>,
}

impl TextTable<'_> {
    /// Draws the rows with a dimmed header, in as many columns as fit.
    pub fn draw(&self, style: Style) -> String {
        let mut drawn = self.lines(&[]);
        for left_out in 1..=self.dispensable.len() {
            if drawn.iter().all(|line| line.chars().count() <= style.width) {
                break;
            }
            drawn = self.lines(&self.dispensable[..left_out]);
        }
        let mut lines = drawn.into_iter();
        let header = lines.next().map(|line| style.dim(&line));
        header.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }

    fn lines(&self, left_out: &[usize]) -> Vec<String> {
        let kept: Vec<usize> = (0..self.header.len()).filter(|column| !left_out.contains(column)).collect();
        let header = kept.iter().map(|&column| self.header[column].to_owned()).collect();
        let mut table = plain(
            header,
            self.rows.iter().map(|row| kept.iter().map(|&column| row[column].clone()).collect::<Vec<_>>()),
        );
        for (drawn, &column) in table.column_iter_mut().zip(&kept) {
            let alignment = if column < self.words { CellAlignment::Left } else { CellAlignment::Right };
            drawn.set_cell_alignment(alignment);
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

/// Creates an indented table without rules, one line a row.
fn plain(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((GAP, 0));
    }
    table
}
