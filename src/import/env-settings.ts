import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { LeftBehind, SourceSetting } from './imported-items.ts';
import { readSourceText } from './source-files.ts';

type KnownSettings = {
  readonly name?: string;
  readonly isSecret: boolean;
  readonly channel: string | null;
};

const PLAIN: KnownSettings = { isSecret: false, channel: null };
const KEY: KnownSettings = { isSecret: true, channel: null };
const token = (channel: string, name?: string): KnownSettings => ({
  isSecret: true,
  channel,
  ...(name === undefined ? {} : { name }),
});

/** Settings by the names that other assistants give them, where they mean the same here. */
const KNOWN: Readonly<Record<string, KnownSettings>> = {
  ASSISTANT_NAME: PLAIN,
  TZ: PLAIN,
  ANTHROPIC_API_KEY: KEY,
  ANTHROPIC_BASE_URL: PLAIN,
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: PLAIN,
  MODEL: PLAIN,
  TELEGRAM_ALLOW_FROM: { isSecret: false, channel: 'telegram' },
  DISCORD_ALLOW_FROM: { isSecret: false, channel: 'discord' },
  SLACK_ALLOW_FROM: { isSecret: false, channel: 'slack' },
  TELEGRAM_BOT_TOKEN: token('telegram'),
  DISCORD_BOT_TOKEN: token('discord'),
  SLACK_BOT_TOKEN: token('slack'),
  SLACK_APP_TOKEN: token('slack'),
  MATRIX_HOMESERVER: { isSecret: false, channel: 'matrix' },
  MATRIX_ACCESS_TOKEN: token('matrix', 'MATRIX_TOKEN'),
};

/** Says what is to be done about a setting that has no equal here. */
function whyNot(name: string): string {
  if (name === 'CLAUDE_CODE_OAUTH_TOKEN' || /OAUTH|REFRESH/.test(name)) {
    return 'a login of a subscription belongs to the program that made it; set a key: npx claw setup model';
  }
  return 'Patchclaw has no setting of this meaning';
}

/** Reads the settings in a source's `.env`. */
export function settingsIn(folder: string): {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly settings: readonly SourceSetting[];
  readonly leftBehind: readonly LeftBehind[];
} {
  const values = parseEnv(readSourceText(join(folder, '.env')) ?? '');
  const set = Object.entries(values).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined && entry[1] !== '';
  });
  return {
    values,
    settings: set.flatMap(([name, value]) => settingOf(name, value)),
    leftBehind: set.flatMap(([name]) =>
      Object.hasOwn(KNOWN, name) ? [] : [{ what: `${name} of its .env`, why: whyNot(name) }],
    ),
  };
}

/** Returns the equal setting here; none if there is no such setting. */
export function settingOf(name: string, value: string): readonly SourceSetting[] {
  const known = KNOWN[name];
  if (known === undefined || value === '') return [];
  const { isSecret, channel } = known;
  return [{ name: known.name ?? name, value, isSecret, channel }];
}

/** Adds settings at the end of an env file; every other byte stays. */
export function withSettings(
  before: string,
  settings: readonly Pick<SourceSetting, 'name' | 'value'>[],
): string {
  const start = before === '' || before.endsWith('\n') ? before : `${before}\n`;
  return settings.reduce((text, { name, value }) => `${text}${settingLine(name, value)}\n`, start);
}

/** Writes the line of a setting, which `parseEnv` reads back as it is. */
export function settingLine(name: string, value: string): string {
  return `${name}=${quoted(value) ?? ''}`;
}

/** Quotes a value for an env file; null for one that no quotes can hold. */
export function quoted(value: string): string | null {
  if (/^[\w./:@+,-]*$/.test(value)) return value;
  if (/[\r\n]/.test(value)) return null;
  const mark = ["'", '"', '`'].find((quote) => !value.includes(quote));
  return mark === undefined ? null : `${mark}${value}${mark}`;
}
