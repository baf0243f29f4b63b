import { linearAt } from '../lib/linear/api.ts';
import { allowListProblem, LinearEnvironment, linearOf } from '../lib/linear/settings.ts';
import { reasonOf, type Viewer, viewerOf } from '../lib/linear/viewer.ts';
import {
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

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
    return linear === null ? null : `a key, and ${listOf(linear.allowFrom)} may give issues`;
  },
  run: setUpLinear,
});

/** Asks for key and people, tries the key with Linear, and only then writes `.env`. */
async function setUpLinear(context: Context): Promise<SetupOutcome> {
  if (context.args.length > 0) {
    throw new SetupRefused(
      '`npx claw setup linear` takes no options: it asks, or reads two lines.',
      {
        isWrongUse: true,
      },
    );
  }
  const found: { viewer: Viewer | null } = { viewer: null };
  const { LINEAR_API_URL: url } = context.settings;
  const key = await context.ask({
    message:
      'The API key of the assistant’s user at Linear (Settings, Security & access, Personal API keys)',
    isSecret: true,
    async check(typed) {
      if (typed.length < 16 || /\s/.test(typed))
        return 'A key looks like lin_api_…, as Linear shows it once.';
      try {
        found.viewer = await viewerOf(linearAt({ url, key: typed }, TIMEOUT_MS));
        return null;
      } catch (error) {
        return reasonOf(error);
      }
    },
  });
  const { viewer } = found;
  if (viewer === null) throw new SetupRefused('The key was not tried.');
  context.say(`The key belongs to ${viewer.name}, in ${viewer.workspace}.`);
  const typed = await context.ask({
    message: 'Your e-mail address at Linear (of several people: with commas between them)',
    initial: context.settings.LINEAR_ALLOW_FROM.join(','),
    check: (list) => (allowListProblem(listIn(list)) === null ? null : WRONG_LIST),
  });
  const allowFrom = listIn(typed);
  context.write({ LINEAR_API_KEY: key, LINEAR_ALLOW_FROM: allowFrom.join(',') });
  return {
    summary: `Issues that are assigned to ${viewer.name} come to the assistant; ${listOf(allowFrom)} may give them. .env holds the key.`,
    data: { name: viewer.name, workspace: viewer.workspace, allowFrom },
  };
}

function listIn(typed: string): readonly string[] {
  return typed
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
}

function listOf(allowFrom: readonly string[]): string {
  return allowFrom.includes('*') ? 'everybody' : allowFrom.join(', ') || 'nobody';
}
