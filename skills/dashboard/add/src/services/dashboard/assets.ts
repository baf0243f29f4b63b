import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { HttpResponse } from '../../http/route.ts';
import { withEsbuild } from '../../lib/bundling.ts';

/** The files of the page, as browsers get them. */
export interface Assets {
  page(headers: IncomingHttpHeaders): HttpResponse;
  /** @param path below `/dashboard/ui/`: with the version of all files before it, a browser asks only once */
  file(path: string, headers: IncomingHttpHeaders): Promise<HttpResponse>;
}

/** A file as it is sent; a picture is not made smaller by `gzip`. */
type Served = { readonly bytes: Buffer; readonly zipped: Buffer | null; readonly etag: string };

/** Not below `src/`: its modules are for browsers, whose types are no others' business. */
const UI = join(import.meta.dirname, '../../../ui');
/** Modules of npm packages: bundled once, everything else is served file by file. */
const BUNDLED = ['vendor.ts', 'charts.ts'];
/** Charts are loaded by the panels that have one, and the worker is none of the page. */
const APART = ['charts.ts', 'worker.ts'];
/** Icons for systems that take no SVG: `scripts/dashboard-icons.ts` makes them. */
const PICTURE = /^[a-z][a-z0-9-]*\.png$/;
const PACKAGES = ['preact', 'htm', '@preact/signals', 'marked', 'uplot'];

/** Opens the files below `ui/`. Each load of the page looks whether one has changed: an edit shows at the next one. */
export function openAssets({
  cacheDir,
  assistantName,
}: {
  readonly cacheDir: string;
  readonly assistantName: string;
}): Assets {
  const packages = versions();
  const bundles = new Map<string, Promise<string>>();
  /** What was made of the files of this version. */
  let made = { version: '', files: new Map<string, Promise<Served | null>>() };

  function current(): typeof made {
    const version = versionOf(packages);
    if (version !== made.version) {
      made = { version, files: new Map() };
      bundles.clear();
    }
    return made;
  }

  function served(path: string, { files }: typeof made): Promise<Served | null> {
    const known = files.get(path) ?? serve(path);
    files.set(path, known);
    known.catch(() => files.delete(path));
    return known;
  }

  async function serve(path: string): Promise<Served | null> {
    const text = PICTURE.test(path) ? readOrNull(path) : await textOf(path);
    if (text === null) return null;
    const bytes = Buffer.from(text);
    const zipped = typeof text === 'string' ? gzipSync(bytes) : null;
    return { bytes, zipped, etag: `"${digestOf(bytes)}"` };
  }

  async function bundled(name: string): Promise<string> {
    const source = readFileSync(join(UI, name), 'utf8');
    const path = join(cacheDir, `${name}-${digestOf(`${source} ${packages}`)}.js`);
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // It was not made so far, or of other versions.
    }
    const { outputFiles } = await withEsbuild(({ build }) =>
      build({
        entryPoints: [join(UI, name)],
        bundle: true,
        format: 'esm',
        minify: true,
        target: 'es2022',
        write: false,
        logLevel: 'silent',
        // Charts share the preact of the page.
        external: name === 'vendor.ts' ? [] : ['./vendor.ts'],
      }),
    );
    const text = outputFiles[0]?.text ?? '';
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
    return text;
  }

  async function textOf(path: string): Promise<string | null> {
    if (BUNDLED.includes(path)) {
      const known = bundles.get(path) ?? bundled(path);
      bundles.set(path, known);
      return await known.catch((error: unknown) => {
        bundles.delete(path);
        throw error;
      });
    }
    if (path === 'panels.json') return JSON.stringify(namesOf('.ts'));
    if (path === 'styles.css') return stylesOf();
    if (path === 'charts.css') return readFileSync(resolved('uplot/dist/uPlot.min.css'), 'utf8');
    if (path === 'manifest.json') return JSON.stringify(manifestOf(assistantName));
    const [, offlineIn] = /^offline\.([a-z]{2})\.html$/.exec(path) ?? [];
    if (offlineIn !== undefined) return offlinePage(assistantName, stringsOf(offlineIn)['main']);
    const language = /^strings\.([a-z]{2})\.json$/.exec(path)?.[1];
    if (language !== undefined) return JSON.stringify(stringsOf(language));
    if (!/^([a-z-]+\/)?[a-z][a-z-]*(\.[a-z]{2})?\.(ts|css|svg)$/.test(path)) return null;
    const text = readOrNull(path)?.toString() ?? null;
    return text !== null && path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  }

  return {
    page: ({ 'accept-language': languages = '' }) => ({
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: pageOf(assistantName, current().version, /^[a-z]{2}/.exec(languages)?.[0] ?? 'en'),
    }),
    async file(path, { 'if-none-match': known, 'accept-encoding': accepted = '' }) {
      const [, version, name = path] = /^(v-[\w-]+)\/(.*)$/s.exec(path) ?? [];
      // The files are looked at once for each load of the page, and not for each file of it.
      const isLasting = version === made.version;
      const found = await served(name, isLasting ? made : current());
      if (found === null) return { status: 404, body: 'There is no such file.\n' };
      const { bytes, zipped, etag } = found;
      const caching = isLasting ? 'private, max-age=31536000, immutable' : 'no-cache';
      const headers = { etag, 'cache-control': caching, 'content-type': typeOf(name) };
      if (known === etag) return { status: 304, headers };
      if (zipped === null || !/\bgzip\b/.test(String(accepted))) return { headers, body: bytes };
      return { headers: { ...headers, 'content-encoding': 'gzip' }, body: zipped };
    },
  };
}

/** The page names all its modules, so that a browser asks for them at once and not one after the other. */
function pageOf(name: string, version: string, language: string): string {
  const title = escaped(name);
  const base = `/dashboard/ui/${version}`;
  const panels = namesOf('.ts').map((panel) => `panels/${panel}.ts`);
  const modules = readdirSync(UI).filter((path) => path.endsWith('.ts') && !APART.includes(path));
  const words = [`strings.${language}.json`, 'panels.json'];
  return [
    `<!doctype html><html lang="en" data-name="${title}"><head><meta charset="utf-8">`,
    // A keyboard on the screen leaves the field above it in sight, and an app has the whole screen.
    '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${title}</title><link rel="icon" href="${base}/icon-192.png">`,
    '<link rel="apple-touch-icon" href="/dashboard/ui/icon-192.png">',
    '<link rel="manifest" href="/dashboard/ui/manifest.json">',
    `<link rel="stylesheet" href="${base}/styles.css">`,
    ...[...modules, ...panels].map((path) => `<link rel="modulepreload" href="${base}/${path}">`),
    ...words.map((path) => `<link rel="preload" as="fetch" crossorigin href="${base}/${path}">`),
    `<script type="module" src="${base}/main.ts"></script></head>`,
    `<body><noscript>This page needs JavaScript.</noscript></body></html>`,
  ].join('\n');
}

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(join(UI, path));
  } catch {
    return null; // There is no such file.
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** What makes the page an app of the phone. */
function manifestOf(name: string) {
  const picture = (file: string, size: number, purpose = 'any') => ({
    src: `/dashboard/ui/${file}.png`,
    type: 'image/png',
    sizes: `${size}x${size}`,
    purpose,
  });
  return {
    name,
    short_name: name,
    id: '/dashboard',
    start_url: '/dashboard',
    scope: '/dashboard',
    display: 'standalone',
    background_color: '#14161a',
    theme_color: '#14161a',
    icons: [
      { src: '/dashboard/ui/icon.svg', type: 'image/svg+xml', sizes: 'any', purpose: 'any' },
      picture('icon-192', 192),
      picture('icon-512', 512),
      picture('icon-maskable', 512, 'maskable'),
    ],
  };
}

/** What the browser keeps for the time when nothing else comes. */
function offlinePage(name: string, words: unknown): string {
  const { language, unreachable, again } = words as Readonly<Record<string, string>>;
  return [
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escaped(name)}</title><link rel="stylesheet" href="/dashboard/ui/layout.css"></head>`,
    `<body><main class="alone"><h1>${escaped(name)}</h1><p>${unreachable}</p>`,
    `<p><a href="/dashboard">${again}</a></p></main></body></html>`,
  ].join('\n');
}

/** Changes with any file of the page, and with any package that is bundled into it. */
function versionOf(packages: string): string {
  const names = readdirSync(UI, { recursive: true, encoding: 'utf8' }).sort();
  const facts = names.map((name) => {
    const { mtimeMs, size } = statSync(join(UI, name));
    return `${name} ${mtimeMs} ${size}`;
  });
  return `v-${digestOf([...facts, packages].join('\n'))}`;
}

/** Returns all style sheets as one: a browser draws nothing before it has the last. */
function stylesOf(): string {
  const paths = ['layout.css', ...namesOf('.css').map((panel) => `panels/${panel}.css`)];
  return paths.map((path) => readFileSync(join(UI, path), 'utf8')).join('\n');
}

/** Returns the names of the panels that have a file with this ending. */
function namesOf(ending: '.ts' | '.css'): readonly string[] {
  return readdirSync(join(UI, 'panels'))
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort();
}

/** Returns the words of the page and its panels; what a language does not have is in English. */
function stringsOf(language: string): Readonly<Record<string, unknown>> {
  const strings: Record<string, Record<string, string>> = {};
  for (const name of ['main', ...namesOf('.ts')]) {
    const path = name === 'main' ? 'main' : `panels/${name}`;
    for (const one of ['en', language]) {
      strings[name] = { ...strings[name], ...readStrings(join(UI, `${path}.${one}.json`)) };
    }
  }
  return strings;
}

function readStrings(path: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {}; // A panel without words of its own in this language.
  }
}

function versions(): string {
  const manifests = PACKAGES.map((name) => readFileSync(join(packageFolder(name), 'package.json')));
  return digestOf(manifests.join('\n'));
}

/** A package need not export its manifest, so its folder is looked for above its entry. */
function packageFolder(name: string): string {
  const entry = resolved(name);
  return entry.slice(0, entry.lastIndexOf(`node_modules/${name}/`) + `node_modules/${name}`.length);
}

function resolved(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}

function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function typeOf(path: string): string {
  if (path.endsWith('.css')) return 'text/css; charset=utf-8';
  if (path.endsWith('.svg')) return 'image/svg+xml';
  if (path.endsWith('.png')) return 'image/png';
  if (path.endsWith('.html')) return 'text/html; charset=utf-8';
  if (path === 'manifest.json') return 'application/manifest+json';
  return path.endsWith('.json') ? 'application/json' : 'text/javascript; charset=utf-8';
}
