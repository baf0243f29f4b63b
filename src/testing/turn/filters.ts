import { discoverInboundFilters, type FilterResult } from '../../host/contracts/inbound-filter.ts';
import { openInboundFilters } from '../../host/inbound-path/filters.ts';
import type { ContributionFolder } from '../contributions.ts';

const IMPORTS = `import { z } from 'zod';
import { defineInboundFilter } from 'src/host/contracts/inbound-filter.ts';\n`;

type Conduct = {
  readonly order?: number;
  readonly onFailure?: 'pass' | 'hold';
  readonly settings?: string;
};

/** The file of a filter. */
export const filterFile = (
  name: string,
  create: string,
  { order = 300, onFailure = 'pass', settings }: Conduct = {},
) =>
  `${IMPORTS}export const filter = defineInboundFilter({ name: '${name}', order: ${order},
    onFailure: '${onFailure}', ${settings === undefined ? '' : `settings: ${settings},`} create: ${create} });`;

const log = { info() {}, warn() {}, error() {} };
/** Services of a filter. */
export const context = {
  assistantName: 'Andy',
  dataDir: '/nowhere',
  timeZone: 'UTC',
  log,
  now: () => 0,
  newId: () => 'id',
};
/** A message of the family’s. */
export const message = {
  id: 'm1',
  channel: 'chat',
  group: { name: 'Family', folder: 'family', isMain: false },
  isDirect: false,
  sender: { id: 'bob', name: 'Bob', isOwner: false },
  text: 'hello',
  sentAt: 5,
  isContext: false,
  attachments: [],
};
/** Means of a filter for a message without a file. */
export const means = {
  signal: new AbortController().signal,
  setTimer: () => () => {},
  fetchAttachment: () => Promise.reject(new Error('no file')),
  pay: () => true,
};

/** Opens the filters of a folder. */
export async function filtersIn(
  folder: ContributionFolder,
  environment: Record<string, string> = {},
) {
  return openInboundFilters(await discoverInboundFilters(folder.dir), environment, context);
}

/** Filters of the test's own, as if the tree had them. */
export function filtersOf(
  filter: (text: string) => FilterResult | Promise<FilterResult>,
  onFailure: 'pass' | 'hold' = 'pass',
) {
  const made = { kind: 'made', value: ({ text }: { text: string }) => filter(text) } as const;
  const one = {
    name: 'own',
    order: 300,
    onFailure,
    settings: {} as never,
    needs: [],
    open: () => made,
  };
  return openInboundFilters([one], {}, context).filters;
}
