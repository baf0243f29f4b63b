import { accessSync, constants } from 'node:fs';
import { allowListProblem } from '../channels/serial/access.ts';
import { statusOf } from '../channels/serial/failure.ts';
import { nameOf, type SerialPort } from '../channels/serial/port.ts';
import { lineOf, SerialEnvironment } from '../channels/serial/settings.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { defineExamination, type Finding, ok, problem } from './examination.ts';
import { lastChannelState } from './last-state.ts';

const AREA = 'serial';
const SET_UP = '`npx claw setup serial` asks for the port and tries it.';

/** The serial line: whether the device is there, who may write, and how the channel does. */
export const examination = defineExamination({
  area: AREA,
  order: 46,
  settings: SerialEnvironment,
  async examine({ dataDir }, own) {
    const line = lineOf(own);
    if (line === null) return [ok(AREA, 'no serial line yet', SET_UP)];
    const wrong = allowListProblem(line.allowFrom);
    const list = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
    const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
    if (last?.state === 'connected') {
      const since = new Date(last.time).toLocaleString('sv');
      return [ok(AREA, `${nameOf(line.port)} is open since ${since}`), ...list];
    }
    return [portFinding(line.port), ...list];
  },
});

/** Looks whether the device may be opened. It is not: opening one resets many boards. */
function portFinding(port: SerialPort): Finding {
  if (port.kind === 'tcp') return ok(AREA, `the line is handed on by ${nameOf(port)}`);
  try {
    accessSync(port.path, constants.R_OK | constants.W_OK);
    return ok(AREA, `${port.path} is there and may be opened`);
  } catch (error) {
    const detail = statusOf(error, port).detail ?? `${port.path} cannot be opened.`;
    return problem(AREA, detail, SET_UP);
  }
}
