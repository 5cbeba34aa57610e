//! Configurations beyond those of `[params]`: what is measured, and what is tried while a kernel is tuned.
//!
//! Example: `{BLOCK = [64, 128], num_warps = [4, 8]}` on top of `n=1000` are four configurations of `n=1000`.

use super::config::{Config, Try};
use super::expr::Expression;
use super::spec::{Case, Lists};
use super::value::Value;

impl Config {
    /// The configuration with another value, or with one more.
    #[must_use]
    pub fn with(&self, name: &str, value: Value) -> Config {
        let mut params = self.params.clone();
        match params.iter_mut().find(|(n, _)| n == name) {
            Some(slot) => slot.1 = value,
            None => params.push((name.to_owned(), value)),
        }
        Config { params }
    }

    /// The value of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.params.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }
}

impl Case {
    /// Every combination of these values, on top of a configuration. The last name varies fastest.
    ///
    /// # Errors
    /// `E1017` for an expression that cannot be computed.
    pub fn combinations(&self, base: &Config, lists: &Lists) -> Try<Vec<Config>> {
        let mut all = vec![base.clone()];
        for (name, values) in lists {
            all = all.iter().flat_map(|c| values.iter().map(|v| c.with(name, v.clone()))).collect();
        }
        self.allowed(all)
    }

    /// The configurations of a space, on top of a configuration, that `requires` of `[tune]` lets through. With
    /// `listed`, those follow that `[tune]` lists.
    ///
    /// # Errors
    /// `E1017` for an expression that cannot be computed.
    pub fn tried(&self, base: &Config, space: &Lists, listed: bool) -> Try<Vec<Config>> {
        let mut out = vec![];
        if !space.is_empty() {
            for config in self.combinations(base, space)? {
                let keep = match &self.tune.requires {
                    Some(e) => e.eval(&self.environment(&config)?)?.is_true(),
                    None => true,
                };
                out.extend(keep.then_some(config));
            }
        }
        let own = self.tune.configs.iter().filter(|_| listed);
        let listed = own.map(|c| c.iter().fold(base.clone(), |b, (n, v)| b.with(n, v.clone())));
        out.extend(self.allowed(listed)?);
        Ok(out)
    }

    /// The bytes and the floating-point operations of a launch, as `[bench]` says them.
    ///
    /// # Errors
    /// `E1017` for an expression that cannot be computed.
    pub fn work(&self, config: &Config) -> Try<(Option<f64>, Option<f64>)> {
        let env = self.environment(config)?;
        let value = |e: &Option<Expression>| e.as_ref().map(|e| e.float(&env)).transpose();
        Ok((value(&self.bench.bytes)?, value(&self.bench.flops)?))
    }
}
