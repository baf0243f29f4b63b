import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { text } from '../../lib/bounded-schema.ts';
import { each, ignored, left, READ, type Rules } from '../accounting.ts';
import { ImportRefused, type LeftBehind, type SourceState } from '../imported-items.ts';
import { readSourceJson, readSourceText } from '../source-files.ts';
import { senderOfPeer, settingsOf } from './gateway.ts';

const OF_ITSELF = left('a setting of OpenClaw itself');
/** What becomes of each key of the settings. */
export const KEYS: Rules = {
  'agents/defaults/workspace': READ,
  'agents/defaults/userTimezone': READ,
  'agents/defaults/model': READ,
  'agents/defaults/model/primary': READ,
  'agents/list/*/id': READ,
  'agents/list/*/workspace': READ,
  'agents/list/*/default': ignored('the usual agent is the one called main'),
  'agents/entries/*/workspace': READ,
  'channels/*/botToken': READ,
  'channels/*/appToken': READ,
  'channels/*/token': READ,
  'channels/*/allowFrom/**': READ,
  'channels/*/groupAllowFrom/**': READ,
  'channels/*/groups/*/requireMention': READ,
  'channels/*/enabled': ignored('a channel is on here when its skill is added'),
  ...each(
    ['channels/*/dmPolicy', 'channels/*/groupPolicy'],
    left('only those who are listed may call it here: /allow'),
  ),
  ...each(['meta/**', 'wizard/**'], ignored('when OpenClaw was set up')),
  ...each(
    ['gateway', 'session', 'messages', 'commands', 'logging', 'browser', 'ui', 'auth', 'tools']
      .concat('plugins', 'hooks', 'skills', 'cron', 'web', 'discovery', 'models', 'bindings')
      .map((name) => `${name}/**`),
    OF_ITSELF,
  ),
};

const Names = z.array(z.union([text(200), z.number()])).max(10_000);
/** The settings of one channel. */
export const ChannelConfig = z.looseObject({
  enabled: z.boolean().nullish(),
  botToken: z.unknown().optional(),
  appToken: z.unknown().optional(),
  token: z.unknown().optional(),
  dmPolicy: text(50).nullish(),
  groupPolicy: text(50).nullish(),
  allowFrom: Names.nullish(),
  groupAllowFrom: Names.nullish(),
  groups: z.record(text(500), z.looseObject({ requireMention: z.boolean().nullish() })).nullish(),
});
const Agent = z.looseObject({ id: text(200).nullish(), workspace: text(4_000).nullish() });
const Config = z.looseObject({
  agents: z
    .looseObject({
      list: z.array(Agent).max(1_000).nullish(),
      entries: z.record(text(200), Agent).nullish(),
      defaults: z
        .looseObject({
          workspace: text(4_000).nullish(),
          userTimezone: text(100).nullish(),
          model: z.union([text(500), z.looseObject({ primary: text(500).nullish() })]).nullish(),
        })
        .nullish(),
    })
    .nullish(),
  channels: z.record(text(100), z.unknown()).nullish(),
});
/** The settings of OpenClaw, as far as something here comes of them. */
export type Config = z.output<typeof Config>;

/** Reads JSON with comments, commas at ends and names without quotes, as the settings of OpenClaw may be. */
export function readConfig(path: string): Config | null {
  const given = readSourceText(path);
  if (given === null) return null;
  // Comments go, and a name without quotes gets the blank after its colon that YAML asks for.
  const asYaml = given.replace(
    /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(\w)\s*:(?=\S)/g,
    (_, quoted: string | undefined, nameEnd: string | undefined) =>
      quoted ?? (nameEnd === undefined ? '' : `${nameEnd}: `),
  );
  const value: unknown = parse(asYaml, { maxAliasCount: 0 });
  const config = Config.safeParse(value).data;
  if (config !== undefined) return config;
  throw new ImportRefused(`${path} cannot be read as the settings of OpenClaw.`);
}

/** A token is a text, `${NAME}` of the environment, or a reference of the same meaning. */
function secretIn(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const reference = z
    .looseObject({ source: z.literal('env'), id: text(200) })
    .safeParse(value).data;
  if (reference !== undefined) return env[reference.id] ?? null;
  if (typeof value !== 'string') return null;
  const name = /^\$\{(\w+)\}$/.exec(value)?.[1];
  return name === undefined ? value : (env[name] ?? null);
}

/** Returns the tokens and lists of senders that channels have here. */
export function channelSettings(
  config: Config | null,
  env: Readonly<Record<string, string | undefined>>,
): SourceState['settings'] {
  const of = (name: string) => ChannelConfig.safeParse(config?.channels?.[name]).data;
  const [telegram, discord, slack] = ['telegram', 'discord', 'slack'].map(of);
  const listed = (names: readonly (string | number)[] | null | undefined) => {
    const known = names?.map(String) ?? [];
    return known.includes('*') ? null : known.map((name) => senderOfPeer('', name)).join(',');
  };
  return settingsOf([
    ['TELEGRAM_BOT_TOKEN', secretIn(telegram?.botToken, env)],
    ['TELEGRAM_ALLOW_FROM', listed(telegram?.allowFrom)],
    ['DISCORD_BOT_TOKEN', secretIn(discord?.token, env)],
    ['DISCORD_ALLOW_FROM', listed(discord?.allowFrom)],
    ['SLACK_BOT_TOKEN', secretIn(slack?.botToken, env)],
    ['SLACK_APP_TOKEN', secretIn(slack?.appToken, env)],
    ['SLACK_ALLOW_FROM', listed(slack?.allowFrom)],
  ]);
}

const Profiles = z.looseObject({
  profiles: z.record(
    text(500),
    z.looseObject({ type: text(50), provider: text(100), key: text(10_000).nullish() }),
  ),
});

/** Returns the API keys of agents' profiles, and the logins that cannot come. */
export function keysOf(
  root: string,
  agents: readonly string[],
): { readonly settings: SourceState['settings']; readonly leftBehind: readonly LeftBehind[] } {
  const profiles = agents.flatMap((agent) => {
    const path = join(root, 'agents', agent, 'agent/auth-profiles.json');
    return Object.values(readSourceJson(path, Profiles)?.profiles ?? {});
  });
  const names: Readonly<Record<string, string>> = {
    anthropic: 'ANTHROPIC_API_KEY',
    openai: 'OPENAI_API_KEY',
  };
  const isTaken = ({ type, provider, key }: (typeof profiles)[number]) =>
    type === 'api_key' && names[provider] !== undefined && !!key;
  return {
    settings: settingsOf(
      profiles.filter(isTaken).map(({ provider, key }) => [names[provider] ?? '', key]),
    ),
    leftBehind: profiles
      .filter((profile) => !isTaken(profile))
      .map(({ type, provider }) => ({
        what: `the login ${type} of ${provider}`,
        why:
          type === 'api_key'
            ? 'no setting here is of this provider: npx claw setup model'
            : 'a login of a subscription belongs to the program that made it',
      })),
  };
}

/** Returns the workspace that the settings name for an agent; null if they name none. */
export function workspaceOf(config: Config | null, agent: string): string | null {
  const { list, entries, defaults } = config?.agents ?? {};
  const own = list?.find(({ id }) => id === agent)?.workspace ?? entries?.[agent]?.workspace;
  return own ?? (agent === 'main' ? (defaults?.workspace ?? null) : null);
}
