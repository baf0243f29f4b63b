/** A process of its own that imports or undoes, and kills itself at a step: what a power cut or the owner would do. */
import { readEnvFile } from '../../env-file.ts';
import { importFrom } from '../import.ts';
import { openTarget } from '../target.ts';
import { undoImport } from '../undo.ts';
import { countedIds, NOW } from './bench.ts';

const [action = '', project = '', root = '', home = '', step = ''] = process.argv.slice(2);
let left = Number(step);

function onStep(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

const roots = { project, data: `${project}/data` };
if (action === 'undo') {
  undoImport(openTarget(roots, NOW), onStep);
} else {
  await importFrom(root, {
    roots,
    home,
    timeZone: 'Europe/Berlin',
    assistantName: 'Andy',
    env: readEnvFile(project),
    now: NOW,
    newId: countedIds(),
    progress: () => {},
    onStep,
    lookAtSystem: () => ({ processes: [], units: [], containers: [] }),
    from: null,
    isTakeOver: true,
    makeBackup: null,
    decide: async () => ({ isWanted: true, withKeys: true }),
  });
}
