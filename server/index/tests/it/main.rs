//! What the index finds in small repositories, given as `//- /path` sections.

mod cycles;
mod fixture;
mod hybrid;
mod lexical;
mod names;
