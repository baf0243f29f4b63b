import { linearAt } from '../lib/linear/api.ts';
import { allowListProblem, LinearEnvironment, linearOf } from '../lib/linear/settings.ts';
import { reasonOf, viewerOf } from '../lib/linear/viewer.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import {
  defineExamination,
  type Examination,
  type Finding,
  ok,
  problem,
  type Subject,
} from './examination.ts';
import { lastChannelState } from './last-state.ts';

const AREA = 'linear';
const SET_UP = '`npx claw setup linear` sets key and people, and tries them.';

/** The key: whether Linear takes it, who may give issues, and how the channel does. */
export const examination = linearExamination(20_000);

/** @param timeoutMs how long Linear has to answer */
export function linearExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 47,
    settings: LinearEnvironment,
    async examine(subject, own) {
      const linear = linearOf(own);
      if (linear === null) return [ok(AREA, 'no key yet', SET_UP)];
      const wrong = allowListProblem(linear.allowFrom);
      const list = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
      if (subject.isOffline) return [ok(AREA, 'a key is set; Linear was not asked'), ...list];
      try {
        const { name, workspace } = await viewerOf(linearAt(linear, timeoutMs));
        return [stateFinding(subject, `the key belongs to ${name}, in ${workspace}`), ...list];
      } catch (error) {
        return [problem(AREA, reasonOf(error), SET_UP), ...list];
      }
    },
  });
}

/** Reports the state that the running assistant last noted for the channel. */
function stateFinding({ dataDir }: Subject, whose: string): Finding {
  const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
  if (last === null) return ok(AREA, whose);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected') return ok(AREA, `${whose}, connected since ${since}`);
  const message = `${whose}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(AREA, message.trim(), '`npx claw logs --level warn` tells more.');
}
