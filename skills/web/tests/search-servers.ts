import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

/** A request that a search server got. */
export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly token: string | null;
  readonly body: string;
};

/** An answer as Brave Search gives it: markup and entities in texts, ages beside dates. */
const BRAVE = {
  type: 'search',
  query: { original: 'rain & wind', more_results_available: true },
  web: {
    type: 'search',
    results: [
      {
        title: '<strong>Rain</strong> &amp; wind – forecast',
        url: 'https://weather.example/rain',
        description:
          'Heavy <strong>rain</strong> and &quot;wind&quot; over the hills, it&#x27;s wet.',
        page_age: '2026-11-20T08:00:00',
        age: '2 days ago',
        language: 'en',
        family_friendly: true,
        extra_snippets: ['…'],
      },
      { title: 'Umbrellas', url: 'https://shop.example/umbrellas?size=5&color=red' },
    ],
    family_friendly: true,
  },
  mixed: { type: 'mixed', main: [{ type: 'web', index: 0, all: false }] },
};

const TAVILY = {
  query: 'rain',
  follow_up_questions: null,
  answer: null,
  images: [],
  results: [
    {
      title: 'Rain today',
      url: 'https://weather.example/today',
      content: 'It rains.',
      score: 0.98,
      raw_content: null,
    },
  ],
  response_time: 1.09,
  request_id: '123e4567-e89b-12d3-a456-426614174111',
};

const SEARXNG = {
  query: 'rain',
  number_of_results: 0,
  results: [
    {
      url: 'https://weather.example/rain',
      title: 'Rain',
      content: 'All about rain',
      publishedDate: '2026-11-19T00:00:00',
      engine: 'brave',
      engines: ['brave', 'startpage'],
      score: 4,
      category: 'general',
    },
    { url: 'https://b.example/', title: 'Second', content: null, publishedDate: null },
  ],
  answers: [],
  corrections: [],
  infoboxes: [],
  suggestions: ['rain radar'],
  unresponsive_engines: [['google', 'Suspended: CAPTCHA']],
};

/** The page for browsers without scripts, as DuckDuckGo lays it out. */
const DUCKDUCKGO = `<!DOCTYPE html><html><body><div id="links" class="results">
<div class="result results_links results_links_deep result--ad">
  <h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/y.js?ad_domain=ads.example&amp;u3=https%3A%2F%2Fads.example">Buy rain</a></h2>
</div>
<div class="result results_links results_links_deep web-result">
  <div class="links_main links_deep result__body">
  <h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fen.wikipedia.org%2Fwiki%2FRain&amp;rut=4f1c">Rain - Wikipedia</a></h2>
  <a class="result__snippet" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fen.wikipedia.org%2Fwiki%2FRain&amp;rut=4f1c"><b>Rain</b> is water
   that falls.</a>
  </div>
</div>
<div class="result results_links results_links_deep web-result">
  <h2 class="result__title"><a class="result__a" href="https://weather.example/?a=1&amp;b=2">Weather &amp; more</a></h2>
</div>
</div></body></html>`;

const BODIES = {
  brave: JSON.stringify(BRAVE),
  tavily: JSON.stringify(TAVILY),
  searxng: JSON.stringify(SEARXNG),
  duckduckgo: DUCKDUCKGO,
};

/** A search server: it notes each request, and answers as that server does, packed as it would. */
export function searchServer(
  answer: keyof typeof BODIES | { readonly status: number; readonly body: string },
) {
  const asked: Asked[] = [];
  async function handler(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://server');
    const { authorization = null } = request.headers;
    asked.push({
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      token: String(request.headers['x-subscription-token'] ?? authorization ?? '') || null,
      body: await text(request),
    });
    const { status, body } =
      typeof answer === 'string' ? { status: 200, body: BODIES[answer] } : answer;
    response.writeHead(status, { 'content-encoding': 'gzip', location: 'http://127.0.0.1:1/' });
    response.end(gzipSync(body));
  }
  return { handler, asked };
}

/** Google's error, as its API has it. */
function googleError(code: number, status: string, message: string, reason?: string): string {
  const details = [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' },
  ];
  const error = { code, message, errors: [{ message, domain: 'global' }], status };
  return JSON.stringify({ error: reason === undefined ? error : { ...error, details } });
}

const GOOGLE_ITEMS = [
  {
    kind: 'customsearch#result',
    title: 'Rain radar',
    htmlTitle: '<b>Rain</b> radar',
    link: 'https://weather.example/radar',
    displayLink: 'weather.example',
    snippet: 'Nov 20, 2026 ... Rain &amp; wind.',
    pagemap: { metatags: [{ 'article:published_time': '2026-11-20T08:00:00Z' }] },
  },
  { kind: 'customsearch#result', title: 'Umbrellas', link: 'https://shop.example/', pagemap: {} },
];

/** A server of Google's Custom Search JSON API: it checks key, engine and number of results in that order. */
export function googleServer(
  known: { readonly key: string; readonly engine: string },
  refuses: 'disabled' | 'quota' | null = null,
) {
  const asked: Asked[] = [];
  async function handler(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://server');
    const query = Object.fromEntries(url.searchParams);
    const token = String(request.headers['x-goog-api-key'] ?? query['key'] ?? '') || null;
    const method = request.method ?? '';
    asked.push({ method, path: url.pathname, query, token, body: await text(request) });
    const [status, body] = answerTo({ path: url.pathname, query, token });
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
    response.end(body);
  }

  function answerTo({
    path,
    query,
    token,
  }: Pick<Asked, 'path' | 'query' | 'token'>): [number, string] {
    if (path !== '/customsearch/v1') return [404, '<!DOCTYPE html>'];
    if (token !== known.key) {
      const message = 'API key not valid. Please pass a valid API key.';
      return [400, googleError(400, 'INVALID_ARGUMENT', message, 'API_KEY_INVALID')];
    }
    if (refuses === 'disabled') {
      const message = 'Custom Search API has not been used in project 1 before or it is disabled.';
      return [403, googleError(403, 'PERMISSION_DENIED', message, 'SERVICE_DISABLED')];
    }
    if (refuses === 'quota') {
      const message = "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'.";
      return [429, googleError(429, 'RESOURCE_EXHAUSTED', message, 'RATE_LIMIT_EXCEEDED')];
    }
    const count = Number(query['num'] ?? 10);
    if (query['cx'] !== known.engine || !(count >= 1 && count <= 10)) {
      const message = 'Request contains an invalid argument.';
      return [400, googleError(400, 'INVALID_ARGUMENT', message)];
    }
    const head = { kind: 'customsearch#search', queries: { request: [{ count }] } };
    const found = query['q'] === 'nothing-there' ? {} : { items: GOOGLE_ITEMS.slice(0, count) };
    return [200, JSON.stringify({ ...head, ...found })];
  }
  return { handler, asked };
}
