//! The values of special registers ("PTX ISA, Special Registers").

use super::env::Env;
use super::warp::Warp;
use crate::emu::decode::op::Special;
use crate::emu::decode::program::Lanes;

impl super::env::Run<'_> {
    /// How many clusters there are along each axis.
    pub(crate) fn clusters(&self) -> [u32; 3] {
        [0, 1, 2].map(|i| self.grid[i] / self.cluster[i].max(1))
    }

    /// The coordinates of a block in the grid, by its cluster and its rank there.
    pub(crate) fn block_index(&self, cluster: u32, rank: u32) -> [u32; 3] {
        let within = split(rank, self.cluster);
        let outer = split(cluster, self.clusters());
        [0, 1, 2].map(|i| outer[i] * self.cluster[i] + within[i])
    }
}

/// The coordinates of a number, of which the first axis counts fastest.
fn split(n: u32, extents: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extents.map(|e| e.max(1));
    [n % x, n / x % y, n / x / y]
}

impl Env<'_, '_> {
    pub(crate) fn special(&mut self, warp: &Warp, what: Special) -> Lanes {
        let run = self.run;
        let index = self.blocks[warp.block].index;
        let thread = |lane: u32| split(warp.index * 32 + lane, run.block);
        let all = |value: u32| [u64::from(value); 32];
        let each = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| u64::from(f(lane as u32)));
        match what {
            Special::Tid(axis) => each(&|lane| thread(lane)[axis]),
            Special::Ntid(axis) => all(run.block[axis]),
            Special::Ctaid(axis) => all(index[axis]),
            Special::Nctaid(axis) => all(run.grid[axis]),
            Special::ClusterId(axis) => all(index[axis] / run.cluster[axis]),
            Special::NclusterId(axis) => all(run.clusters()[axis]),
            Special::ClusterCtaid(axis) => all(index[axis] % run.cluster[axis]),
            Special::ClusterNctaid(axis) => all(run.cluster[axis]),
            Special::ClusterCtarank => all(warp.block as u32),
            Special::ClusterNctarank => all(run.cluster_size()),
            Special::IsExplicitCluster => all(u32::from(run.cluster_size() > 1)),
            Special::LaneId => each(&|lane| lane),
            Special::WarpId => all(warp.index),
            Special::NwarpId => all(run.warps()),
            Special::SmId | Special::GridId | Special::Zero => all(0),
            Special::NsmId => all(1),
            Special::LanemaskEq => each(&|lane| 1 << lane),
            Special::LanemaskLt => each(&|lane| (1 << lane) - 1),
            Special::LanemaskLe => each(&|lane| u32::MAX >> (31 - lane)),
            Special::LanemaskGt => each(&|lane| !(u32::MAX >> (31 - lane))),
            Special::LanemaskGe => each(&|lane| u32::MAX << lane),
            Special::Clock => [warp.steps; 32],
            Special::GlobalTimer => {
                self.world.timer += 1;
                [self.world.timer; 32]
            }
            Special::DynamicSharedSize => all(run.dynamic_shared),
            Special::TotalSharedSize => all(run.shared_bytes()),
        }
    }
}
