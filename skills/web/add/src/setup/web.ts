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
  type SetupStep,
} from './step.ts';

type Context = SetupContext & OwnSettings<typeof SearchSettings.shape>;

type Needed = { readonly setting: string; readonly question: string };

/** The settings that each server needs, and where they come from. */
const NEEDED: Readonly<Record<SearchServer, readonly Needed[]>> = {
  brave: [
    {
      setting: 'BRAVE_SEARCH_API_KEY',
      question: 'The key of Brave Search, from api-dashboard.search.brave.com',
    },
  ],
  tavily: [{ setting: 'TAVILY_API_KEY', question: 'The key of Tavily, from app.tavily.com' }],
  google: [
    {
      setting: 'GOOGLE_SEARCH_ENGINE',
      question:
        'The id of your search engine (cx), from programmablesearchengine.google.com; let it search the whole web',
    },
    {
      setting: 'GOOGLE_SEARCH_KEY',
      question: 'The key of the Custom Search API, from console.cloud.google.com',
    },
  ],
  searxng: [{ setting: 'SEARXNG_URL', question: 'The address of your SearXNG server' }],
  duckduckgo: [],
};
/** Typed as they are: no secrets. */
const SHOWN = ['SEARXNG_URL', 'GOOGLE_SEARCH_ENGINE'];

/** Chooses the server by which agents search the web. */
export const setup = webSetup();

/** @param addresses the search servers' own by default */
export function webSetup(addresses?: ServerAddresses): SetupStep {
  return defineSetup({
    name: 'web',
    help: 'choose the server by which agents search the web: Brave, Tavily, Google, SearXNG or DuckDuckGo',
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
  const server = await chooseServer(context);
  const needed = NEEDED[server];
  let values: Readonly<Record<string, string>> = { WEB_SEARCH: server };
  const problemWith = (tried: Readonly<Record<string, string>>) =>
    problemOf(openSearch(server, context.settingsWith(tried), addresses), context.signal);
  for (const [at, { setting, question }] of needed.entries()) {
    const before = values;
    const isLast = at === needed.length - 1;
    const value = await context.ask({
      message: question,
      isSecret: !SHOWN.includes(setting),
      // Only the whole can be tried.
      check: async (typed) =>
        isLast ? await problemWith({ ...before, [setting]: typed.trim() }) : emptyProblem(typed),
    });
    values = { ...before, [setting]: value.trim() };
  }
  if (needed.length === 0) {
    const problem = await problemWith(values);
    if (problem !== null) context.say(`${problem} It is set nevertheless, and may work later.`);
  }
  context.write(values);
  return { summary: `Agents search the web by ${server}.`, data: { server } };
}

function emptyProblem(typed: string): string | null {
  return typed.trim() === '' ? 'Type it here.' : null;
}

async function chooseServer({ ask, settings }: Context): Promise<SearchServer> {
  const typed = await ask({
    message:
      'Search by brave, tavily or google (with a key), searxng (a server of yours) or duckduckgo (without a key, less reliable)?',
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
