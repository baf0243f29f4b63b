import type { Search } from '../tools/web/search/server.ts';
import { openSearch, type ServerAddresses } from '../tools/web/search/servers.ts';
import {
  chosenServer,
  SEARCH_SERVERS,
  type SearchServer,
  SearchSettings,
} from '../tools/web/settings.ts';
import {
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
  type SetupStep,
} from './step.ts';

type Context = SetupContext & OwnSettings<typeof SearchSettings.shape>;

/** The setting that each server needs, and where it comes from. */
const NEEDED: Readonly<Record<SearchServer, { setting: string; question: string } | null>> = {
  brave: {
    setting: 'BRAVE_SEARCH_API_KEY',
    question: 'The key of Brave Search, from api-dashboard.search.brave.com',
  },
  tavily: { setting: 'TAVILY_API_KEY', question: 'The key of Tavily, from app.tavily.com' },
  searxng: { setting: 'SEARXNG_URL', question: 'The address of your SearXNG server' },
  duckduckgo: null,
};

/** Chooses the server by which agents search the web. */
export const setup = webSetup();

/** @param addresses the search servers' own by default */
export function webSetup(addresses?: ServerAddresses): SetupStep {
  return defineSetup({
    name: 'web',
    help: 'choose the server by which agents search the web: Brave, Tavily, SearXNG or DuckDuckGo',
    settings: SearchSettings,
    currentState({ settings }) {
      // Without a word of the owner's, DuckDuckGo is asked: that is no set-up.
      const isSet = settings.WEB_SEARCH !== undefined || chosenServer(settings) !== 'duckduckgo';
      return isSet ? `searches by ${chosenServer(settings) ?? 'no server'}` : null;
    },
    run: (context) => setUpWeb(context, addresses),
  });
}

/** Asks for server and key, searches once with them, and only then writes `.env`. */
async function setUpWeb(
  context: Context,
  addresses: ServerAddresses | undefined,
): Promise<SetupOutcome> {
  if (context.args.length > 0) {
    throw new SetupRefused('`npx claw setup web` takes no options: it asks, or reads two lines.', {
      isWrongUse: true,
    });
  }
  const server = await chooseServer(context);
  const needed = NEEDED[server];
  const values = { WEB_SEARCH: server };
  const problemWith = (tried: Readonly<Record<string, string>>) =>
    problemOf(openSearch(server, context.settingsWith(tried), addresses), context.signal);
  if (needed === null) {
    const problem = await problemWith(values);
    if (problem !== null) context.say(`${problem} It is set nevertheless, and may work later.`);
    context.write(values);
  } else {
    const value = await context.ask({
      message: needed.question,
      isSecret: needed.setting !== 'SEARXNG_URL',
      check: async (typed) => await problemWith({ ...values, [needed.setting]: typed.trim() }),
    });
    context.write({ ...values, [needed.setting]: value.trim() });
  }
  return { summary: `Agents search the web by ${server}.`, data: { server } };
}

async function chooseServer({ ask, settings }: Context): Promise<SearchServer> {
  const typed = await ask({
    message:
      'Search by brave or tavily (with a key), searxng (a server of yours) or duckduckgo (without a key, less reliable)?',
    proposed: chosenServer(settings) ?? 'duckduckgo',
    check: (word) =>
      serverIn(word) === undefined ? `Type one of ${SEARCH_SERVERS.join(', ')}.` : null,
  });
  return serverIn(typed) ?? 'duckduckgo';
}

function serverIn(typed: string): SearchServer | undefined {
  return SEARCH_SERVERS.find((server) => server === typed.trim().toLowerCase());
}

/** Searches once, and says what is wrong. */
async function problemOf(search: Search, signal: AbortSignal): Promise<string | null> {
  try {
    await search({ query: 'weather', count: 1, since: null }, signal);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
