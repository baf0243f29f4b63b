import { allowListProblem } from '../channels/linear/access.ts';
import { linearAt } from '../lib/linear/api.ts';
import { LinearEnvironment, linearOf } from '../lib/linear/settings.ts';
import { reasonOf, viewerOf } from '../lib/linear/viewer.ts';
import { defineChannelExamination } from './channel-examination.ts';

const TIMEOUT_MS = 20_000;

/** The key: whether Linear takes it, who may give issues, and how the channel does. */
export const examination = defineChannelExamination({
  area: 'linear',
  order: 47,
  settings: LinearEnvironment,
  setUp: '`npx claw setup linear` sets key and people, and tries them.',
  absent: 'no key yet',
  accountOf: linearOf,
  problemOf: ({ allowFrom }) => allowListProblem(allowFrom),
  untried: () => 'a key is set; Linear was not asked',
  async tryAccount(linear) {
    try {
      const { name, workspace } = await viewerOf(linearAt(linear, TIMEOUT_MS));
      return { ok: true, message: `the key belongs to ${name}, in ${workspace}` };
    } catch (error) {
      return { ok: false, message: reasonOf(error) };
    }
  },
});
