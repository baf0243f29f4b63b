import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CONTENT_KIND_NAMES, CONTENT_KINDS } from './content-kinds.ts';
import { RULE_NAMES, RULES, type RuleName } from './rule-names.ts';

/**
 * The result of one channel's run, by rule: kept, broken, or the reason why it means nothing there; and by kind of
 * content what the agent sees.
 */
export type ChannelResults = z.output<typeof ChannelResults>;

const ChannelResults = z.object({
  channel: z.string(),
  outcomes: z.record(
    z.string(),
    z.union([z.literal('kept'), z.literal('broken'), z.object({ lacks: z.string() })]),
  ),
  content: z.record(
    z.string(),
    z.union([
      z.literal('broken'),
      z.object({ sees: z.array(z.string()).readonly() }),
      z.object({ none: z.string() }),
    ]),
  ),
});

/** Notes a channel's run in a folder, for the table. */
export function noteResults(folder: string, results: ChannelResults): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${results.channel}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

/** Reads the runs that were noted in a folder, by name. */
export function readResults(folder: string): readonly ChannelResults[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ChannelResults.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
}

/** Writes the table of all channels as Markdown, a row for each rule, and below it why a rule means nothing to one. */
export function tableOf(all: readonly ChannelResults[]): string {
  const head = ['rule', 'name', ...all.map(({ channel }) => channel)];
  const rows = RULE_NAMES.map((rule) => [
    RULES[rule],
    `*${rule}*`,
    ...all.map((each) => cellOf(each, rule)),
  ]);
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const reasons = all.flatMap(reasonsIn);
  return [...lines, '', ...reasons].join('\n').trimEnd();
}

function cellOf({ outcomes }: ChannelResults, rule: RuleName): string {
  const outcome = outcomes[rule];
  if (outcome === 'kept') return '✓';
  return typeof outcome === 'object' ? '–' : '**broken**';
}

function reasonsIn({ channel, outcomes }: ChannelResults): readonly string[] {
  const rules = new Map<string, RuleName[]>();
  for (const rule of RULE_NAMES) {
    const outcome = outcomes[rule];
    if (typeof outcome !== 'object') continue;
    rules.set(outcome.lacks, [...(rules.get(outcome.lacks) ?? []), rule]);
  }
  return [...rules].map(
    ([reason, names]) => `- ${channel}, ${names.map((name) => `*${name}*`).join(', ')}: ${reason}`,
  );
}

/**
 * Writes what the agent sees of each kind of content, channel by channel, as Markdown: a table of the kinds that there
 * are, and below it the reasons why the others are not, with their kinds.
 */
export function contentTablesOf(all: readonly ChannelResults[]): string {
  return all
    .filter(({ content }) => Object.keys(content).length > 0)
    .map(({ channel, content }) => {
      const blocks = [tableOfSeen(content), reasonsFor(content)].filter((text) => text !== '');
      return [`### ${channel}`, ...blocks].join('\n\n');
    })
    .join('\n\n');
}

function tableOfSeen(content: ChannelResults['content']): string {
  const rows = CONTENT_KIND_NAMES.flatMap((kind) => {
    const cell = content[kind];
    return isNone(cell) ? [] : [[CONTENT_KINDS[kind], seenOf(cell)]];
  });
  if (rows.length === 0) return '';
  const lines = [['content', 'the agent sees'], ['---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function reasonsFor(content: ChannelResults['content']): string {
  const kinds = new Map<string, string[]>();
  for (const kind of CONTENT_KIND_NAMES) {
    const cell = content[kind];
    if (isNone(cell)) kinds.set(cell.none, [...(kinds.get(cell.none) ?? []), CONTENT_KINDS[kind]]);
  }
  const isOnlyReason = kinds.size === 1;
  return [...kinds]
    .map(([reason, names]) => {
      const list = isOnlyReason && names.length > 3 ? 'everything else' : names.join(', ');
      return `- ${list.charAt(0).toUpperCase()}${list.slice(1)}: ${reason}`;
    })
    .join('\n');
}

type Cell = ChannelResults['content'][string] | undefined;

function isNone(cell: Cell): cell is { readonly none: string } {
  return typeof cell === 'object' && 'none' in cell;
}

function seenOf(cell: Exclude<Cell, { readonly none: string }>): string {
  if (cell === undefined || cell === 'broken') return '**broken**';
  if (cell.sees.length === 0) return 'nothing';
  const lines = cell.sees.flatMap((line) => line.split('\n'));
  return lines
    .map((line) => `\`${line.replaceAll('|', '\\|').replaceAll('`', '´')}\``)
    .join('<br>');
}
