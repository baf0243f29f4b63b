import { ClawError } from '../../errors.ts';
import { commitSteps } from '../commit.ts';
import { everyKind } from './scenario.ts';

// A process of its own, so that it can be killed: commits the scenario in the folder it is given.
const root = process.argv[2] ?? '';
try {
  commitSteps(root, everyKind(root));
  process.stdout.write('done');
} catch (error) {
  process.stdout.write(error instanceof ClawError ? error.code : String(error));
  process.exitCode = 1;
}
