//! Special registers by name ("PTX ISA, Special Registers").

use super::op::Special;

/// The special register of this name.
pub(super) fn parse(name: &str) -> Option<Special> {
    let axis = |prefix: &str| {
        Some(match name.strip_prefix(prefix)? {
            ".x" => 0,
            ".y" => 1,
            ".z" => 2,
            _ => return None,
        })
    };
    let axes: [(&str, fn(usize) -> Special); 8] = [
        ("%tid", Special::Tid),
        ("%ntid", Special::Ntid),
        ("%ctaid", Special::Ctaid),
        ("%nctaid", Special::Nctaid),
        ("%clusterid", Special::ClusterId),
        ("%nclusterid", Special::NclusterId),
        ("%cluster_ctaid", Special::ClusterCtaid),
        ("%cluster_nctaid", Special::ClusterNctaid),
    ];
    if let Some(found) = axes.iter().find_map(|(prefix, make)| axis(prefix).map(make)) {
        return Some(found);
    }
    Some(match name {
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::NwarpId,
        "%smid" => Special::SmId,
        "%nsmid" => Special::NsmId,
        "%gridid" => Special::GridId,
        "%cluster_ctarank" => Special::ClusterCtarank,
        "%cluster_nctarank" => Special::ClusterNctarank,
        "%is_explicit_cluster" => Special::IsExplicitCluster,
        "%lanemask_eq" => Special::LanemaskEq,
        "%lanemask_lt" => Special::LanemaskLt,
        "%lanemask_le" => Special::LanemaskLe,
        "%lanemask_gt" => Special::LanemaskGt,
        "%lanemask_ge" => Special::LanemaskGe,
        "%clock" | "%clock64" => Special::Clock,
        "%globaltimer" | "%globaltimer_lo" => Special::GlobalTimer,
        "%clock_hi" | "%globaltimer_hi" => Special::Zero,
        "%dynamic_smem_size" => Special::DynamicSharedSize,
        "%total_smem_size" => Special::TotalSharedSize,
        _ => return None,
    })
}
