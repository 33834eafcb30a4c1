//! What the index finds in small repositories, given as `//- /path` sections.

mod cyclic_names;
mod fixture;
mod hybrid;
mod lexical;
mod names;
