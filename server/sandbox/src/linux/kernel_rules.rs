//! Further layers of confinement where the kernel has them: Landlock for files and signals, seccomp for system calls.
//!
//! The mount namespace already hides everything else. These layers hold if it has a hole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Calls that no test needs and that attack the kernel or leave the sandbox.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Requests of `ioctl` that put text into a terminal.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541c];

/// Confines this thread and all processes that it starts: they may write below `writable` only, signal no process outside, and make no
/// refused call. Layers that the kernel lacks are left out.
///
/// # Errors
///
/// A message, if the kernel has a layer and refuses it.
pub(crate) fn apply(writable: &[PathBuf]) -> Result<(), String> {
    landlock_rules(writable).map_err(|error| format!("Landlock: {error}"))?;
    let programs = [(refused_calls(), libc::EPERM), (missing_calls(), libc::ENOSYS)];
    for (rules, error) in programs {
        let program = program(rules, error)?;
        seccompiler::apply_filter(&program).map_err(|error| format!("seccomp: {error}"))?;
    }
    Ok(())
}

fn landlock_rules(writable: &[PathBuf]) -> Result<(), landlock::RulesetError> {
    let abi = ABI::V6;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    let everything = [(Path::new("/"), AccessFs::from_read(abi))];
    let devices = (Path::new("/dev"), AccessFs::from_all(abi));
    let writable = writable.iter().map(|folder| (&**folder, AccessFs::from_all(abi)));
    for (folder, access) in everything.into_iter().chain([devices]).chain(writable) {
        if let Ok(folder) = PathFd::new(folder) {
            rules = rules.add_rule(PathBeneath::new(folder, access))?;
        }
    }
    rules.restrict_self()?;
    Ok(())
}

fn refused_calls() -> BTreeMap<i64, Vec<SeccompRule>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    let rule = |argument, length, operator, value| {
        let condition = SeccompCondition::new(argument, length, operator, value);
        condition.and_then(|condition| SeccompRule::new(vec![condition])).ok()
    };
    let terminal = TERMINAL_INPUT
        .iter()
        .filter_map(|&request| rule(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, terminal.collect());
    let new_user = libc::CLONE_NEWUSER as u64;
    let clone = rule(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(new_user), new_user);
    rules.insert(libc::SYS_clone, clone.into_iter().collect());
    rules
}

/// `clone3` has its flags in memory, where no filter can see them. Callers fall back to `clone` if it does not exist.
fn missing_calls() -> BTreeMap<i64, Vec<SeccompRule>> {
    BTreeMap::from([(libc::SYS_clone3, Vec::new())])
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<BpfProgram, String> {
    let architecture = std::env::consts::ARCH.try_into().map_err(|error| format!("seccomp: {error}"))?;
    let refused = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture);
    filter.and_then(TryInto::try_into).map_err(|error| format!("seccomp: {error}"))
}
