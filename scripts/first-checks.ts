/**
 * Runs the checks of a proof once, so that the first skill goes in as fast as later ones.
 *
 *     node scripts/first-checks.ts
 */
import { dirname } from 'node:path';
import { runFirstChecks } from '../src/engine/operation/proof/first-checks.ts';

await runFirstChecks(dirname(import.meta.dirname), process.env);
