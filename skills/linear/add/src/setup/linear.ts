import { allowListProblem } from '../channels/linear/access.ts';
import { linearAt } from '../lib/linear/api.ts';
import { LinearEnvironment, linearOf } from '../lib/linear/settings.ts';
import { reasonOf, type Viewer, viewerOf } from '../lib/linear/viewer.ts';
import { askAllowList, askTried, namesOf, type Tried } from './channel-questions.ts';
import { defineSetup, type OwnSettings, type SetupContext, type SetupOutcome } from './step.ts';

const WRONG_LIST =
  'Write your e-mail address at Linear, such as ada@example.org, with commas between several; * is everybody.';

const TIMEOUT_MS = 20_000;

type Context = SetupContext & OwnSettings<typeof LinearEnvironment.shape>;

/** Connects the assistant to a user of a Linear workspace. */
export const setup = defineSetup({
  name: 'linear',
  help: 'connect the assistant to a user of your Linear workspace, to whom issues are assigned',
  settings: LinearEnvironment,
  currentState({ settings }) {
    const linear = linearOf(settings);
    return linear === null ? null : `a key, and ${namesOf(linear.allowFrom)} may give issues`;
  },
  run: setUpLinear,
});

/** Asks for key and people, tries the key with Linear, and only then writes `.env`. */
async function setUpLinear(context: Context): Promise<SetupOutcome> {
  const { LINEAR_API_URL: url, LINEAR_ALLOW_FROM: listed } = context.settings;
  const message =
    'The API key of the assistant’s user at Linear (Settings, Security & access, Personal API keys)';
  const { typed: key, found: viewer } = await askTried(
    context.ask,
    { message, isSecret: true },
    async (typed): Promise<Tried<Viewer>> => {
      if (typed.length < 16 || /\s/.test(typed)) {
        return { ok: false, message: 'A key looks like lin_api_…, as Linear shows it once.' };
      }
      try {
        return { ok: true, ...(await viewerOf(linearAt({ url, key: typed }, TIMEOUT_MS))) };
      } catch (error) {
        return { ok: false, message: reasonOf(error) };
      }
    },
  );
  context.say(`The key belongs to ${viewer.name}, in ${viewer.workspace}.`);
  const typed = await askAllowList(context.ask, {
    message: 'Your e-mail address at Linear (of several people: with commas between them)',
    initial: listed.join(','),
    check: (list) => (allowListProblem(inSmallLetters(list)) === null ? null : WRONG_LIST),
  });
  const allowFrom = inSmallLetters(typed);
  context.write({ LINEAR_API_KEY: key, LINEAR_ALLOW_FROM: allowFrom.join(',') });
  return {
    summary: `Issues that are assigned to ${viewer.name} come to the assistant; ${namesOf(allowFrom)} may give them. .env holds the key.`,
    data: { name: viewer.name, workspace: viewer.workspace, allowFrom },
  };
}

function inSmallLetters(list: readonly string[]): readonly string[] {
  return list.map((entry) => entry.toLowerCase());
}
