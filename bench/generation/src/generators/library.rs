//! Generators that are libraries. Each runs in a separate process of this program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use clap::Subcommand;
use toolwright_codegen::project::{Mode, Project};

/// The generator that a separate process runs.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum Run {
    /// toolwright, as `toolwright gen` runs it.
    Toolwright {
        /// Compare the output and write nothing.
        #[arg(long)]
        check: bool,
    },
    /// typify, with a `TypeSpace` for each toolset, printed by prettyplease as in its documentation.
    Typify,
    /// prost-build, with a file for each package, printed by prettyplease as by default.
    ProstBuild,
}

pub(super) fn command(run: Run, input: &Path, out: &Path) -> io::Result<Vec<OsString>> {
    let mut words = vec![env::current_exe()?.into_os_string(), "child".into()];
    words.extend([input.into(), out.into()]);
    words.push(match run {
        Run::Toolwright { .. } => "toolwright".into(),
        Run::Typify => "typify".into(),
        Run::ProstBuild => "prost-build".into(),
    });
    if matches!(run, Run::Toolwright { check: true }) {
        words.push("--check".into());
    }
    Ok(words)
}

impl Run {
    /// Generates from one folder into another.
    ///
    /// # Errors
    ///
    /// Returns an error if the generator rejects its input, or if a file cannot be read or written.
    pub fn generate(self, input: &Path, out: &Path) -> io::Result<()> {
        match self {
            Self::Toolwright { check } => toolwright(input, out, check),
            Self::Typify => typify(input, out),
            Self::ProstBuild => prost_build(input, out),
        }
    }
}

fn toolwright(input: &Path, out: &Path, check: bool) -> io::Result<()> {
    let project = Project::open(input).map_err(io::Error::other)?;
    let project = project.with_schema(vec![input.to_owned()]).with_out(out.to_owned());
    let mode = if check { Mode::Check } else { Mode::Write };
    let generated = project.generate(mode).map_err(io::Error::other)?;
    let is_current = generated.is_up_to_date();
    is_current.then_some(()).ok_or_else(|| io::Error::other("the output is not up to date"))
}

fn typify(input: &Path, out: &Path) -> io::Result<()> {
    fs::create_dir_all(out)?;
    for path in files(input)? {
        let rust = typify_text(&fs::read_to_string(&path)?).map_err(io::Error::other)?;
        fs::write(out.join(path.file_stem().unwrap_or_default()).with_extension("rs"), rust)?;
    }
    Ok(())
}

/// Generates Rust from a toolset's document with typify.
///
/// # Errors
///
/// Returns an error if typify rejects the document.
pub fn typify_text(document: &str) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let mut types = typify::TypeSpace::new(&typify::TypeSpaceSettings::default());
    types.add_root_schema(serde_json::from_str(document)?)?;
    Ok(prettyplease::unparse(&syn::parse2(types.to_stream())?))
}

fn prost_build(input: &Path, out: &Path) -> io::Result<()> {
    fs::create_dir_all(out)?;
    let descriptors = protox::compile(files(input)?, [input]).map_err(io::Error::other)?;
    prost_build::Config::new().out_dir(out).compile_fds(descriptors)
}

/// Returns the files of a folder in name order.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}
