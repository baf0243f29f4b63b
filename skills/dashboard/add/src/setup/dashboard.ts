import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import {
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

const Settings = z.object({ PAGE_ORIGINS: z.string().optional() });
type Context = SetupContext & OwnSettings<typeof Settings.shape>;

/** Leads the owner's phone to the page. */
export const setup = defineSetup({
  name: 'dashboard',
  help: 'reach the dashboard from your phone, by Tailscale or a web server of yours',
  settings: Settings,
  currentState: ({ settings }) => settings.PAGE_ORIGINS ?? null,
  run: (context) => setUpDashboard(context),
});

/** @param program another program than `tailscale`, for tests */
export async function setUpDashboard(
  context: Context,
  program = 'tailscale',
): Promise<SetupOutcome> {
  const port = portOfPage(context.dataDir);
  if (port === null) {
    throw new SetupRefused(
      'The page was never served so far. Start the assistant once: npm start.',
    );
  }
  const name = await nameInTailnet(program);
  const origin =
    name === null || !(await wantsTailscale(context, name))
      ? await askForProxy(context, port)
      : await serveByTailscale(program, name, port);
  if (origin === null) {
    return { summary: 'Nothing was changed.', data: { origin: null }, needsRestart: false };
  }
  const known = (context.settings.PAGE_ORIGINS ?? '').split(',').filter((one) => one !== '');
  context.write({ PAGE_ORIGINS: [...new Set([...known, origin])].join(',') });
  return {
    summary: `The page may be reached at ${origin}/dashboard. After a restart, /dashboard in your chat makes a link for it.`,
    data: { origin },
  };
}

/** Returns the port at which the page was served last, from the file for other programs. */
function portOfPage(dataDir: string): string | null {
  try {
    const address = readFileSync(join(dataDir, 'http/address'), 'utf8');
    return /^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(address.trim())?.[1] ?? null;
  } catch {
    return null; // The assistant has served no page so far.
  }
}

const Status = z.object({
  BackendState: z.literal('Running'),
  Self: z.object({ DNSName: z.string().regex(/^[a-z0-9.-]+\.$/) }),
});

/** Returns what this machine is called among the owner's devices; null where Tailscale is not there or not logged in. */
async function nameInTailnet(program: string): Promise<string | null> {
  const { stdout = '', failed } = await execa(program, ['status', '--json'], { reject: false });
  const { data } = Status.safeParse(failed ? null : jsonOf(stdout));
  return data?.Self.DNSName.slice(0, -1) ?? null;
}

async function wantsTailscale({ ask }: Context, name: string): Promise<boolean> {
  const answer = await ask({
    message: `Let your own devices reach the page as https://${name}, by Tailscale (yes or no)`,
    proposed: 'yes',
    check: (typed) => (/^(yes|no|y|n)$/i.test(typed.trim()) ? null : 'Say yes or no.'),
  });
  return /^y/i.test(answer.trim());
}

const Served = z.object({
  Web: z
    .record(
      z.string(),
      z.object({ Handlers: z.record(z.string(), z.looseObject({ Proxy: z.string().optional() })) }),
    )
    .nullish(),
});

/** What another program has put there stays. */
async function serveByTailscale(program: string, name: string, port: string): Promise<string> {
  const wanted = `http://127.0.0.1:${port}`;
  const before = await servedAtRoot(program, name);
  if (before !== null && before !== wanted) {
    throw new SetupRefused(
      `Tailscale serves something else at https://${name} already: ${before}. To replace it, run: tailscale serve --https=443 off`,
    );
  }
  const { failed, stderr, shortMessage } = await execa(program, ['serve', '--bg', port], {
    reject: false,
  });
  if (failed) throw new SetupRefused(`Tailscale refused: ${stderr || shortMessage}`);
  if ((await servedAtRoot(program, name)) !== wanted) {
    throw new SetupRefused('Tailscale does not serve the page. Look at: tailscale serve status');
  }
  return `https://${name}`;
}

async function servedAtRoot(program: string, name: string): Promise<string | null> {
  const { stdout = '' } = await execa(program, ['serve', 'status', '--json'], { reject: false });
  const { data } = Served.safeParse(jsonOf(stdout));
  const handler = data?.Web?.[`${name}:443`]?.Handlers['/'];
  return handler === undefined ? null : (handler.Proxy ?? 'files or a text');
}

async function askForProxy({ ask, say }: Context, port: string): Promise<string | null> {
  say(
    [
      'A web server with a certificate of yours can hand requests over. For Caddy:',
      '',
      '  dash.example.org {',
      `    reverse_proxy 127.0.0.1:${port}`,
      '  }',
      '',
      'For nginx, inside its server block:',
      '',
      '  location / {',
      `    proxy_pass http://127.0.0.1:${port};`,
      '    proxy_set_header Host $host;',
      '    proxy_buffering off;',
      '  }',
      '',
    ].join('\n'),
  );
  const typed = await ask({
    message: 'Its address, such as https://dash.example.org (empty changes nothing)',
    check: (text) =>
      text.trim() === '' || isOrigin(text.trim())
        ? null
        : 'Type an address that begins with https://, without a path.',
  });
  return typed.trim() === '' ? null : new URL(typed.trim()).origin;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return protocol === 'https:' && pathname === '/' && search === '' && hash === '';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // An older Tailscale, or none.
  }
}
