import fc from 'fast-check';

const { CLAW_SEED: seed = '1', CLAW_RUNS: runs } = process.env;

// The cases that a property draws are the same in each run: an owner's change is never refused by chance. Maintainers
// try others by another seed, and more of them.
fc.configureGlobal({ seed: Number(seed), ...(runs !== undefined && { numRuns: Number(runs) }) });
