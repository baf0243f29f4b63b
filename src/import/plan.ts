import type { TaskSchedule } from '../store/store.ts';
import type {
  Product,
  SourceChat,
  SourceFile,
  SourceLink,
  SourceSetting,
  SourceTask,
} from './imported-items.ts';

/** What is here already, as far as a plan asks for it. */
export type Here = {
  readonly now: number;
  readonly assistantName: string;
  readonly groups: readonly {
    readonly jid: string;
    readonly folder: string;
    readonly channel: string;
    readonly isMain: boolean;
  }[];
  /** Tells whether a name below `groups/` is in use, whatever its case. */
  isFolderTaken(name: string): boolean;
  /** The folder that a chat had before it was unregistered; null for none. */
  folderOf(jid: string): string | null;
  /** Returns what an item became in an earlier import: undefined where it never came. */
  item(name: string): string | null | undefined;
  /** Tells whether a task still waits as the import left it. */
  isTaskWaiting(id: number): boolean;
  /** Settings of `.env` that have a value. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The digest of a file of the project; null where there is none, `blocked` where a link or folder is in its way. */
  digest(path: string): string | null | 'blocked';
  /** The account that the link to WhatsApp here is of; null for no link. */
  readonly linkedAs: string | null;
};

/** What the owner has decided. */
export type Decisions = {
  /** The source is stopped for good: what only one assistant may use comes too, and tasks start. */
  readonly isTakeOver: boolean;
};

export type PlannedGroup = {
  readonly item: string;
  readonly jid: string;
  readonly folder: string;
  readonly name: string;
  readonly needsTrigger: boolean;
  readonly triggerWord: string | null;
  readonly isMain: boolean;
  /** Those who may call it there; empty for everybody. */
  readonly senders: readonly string[];
};

export type PlannedTask = {
  readonly item: string;
  readonly source: SourceTask;
  readonly folder: string;
  readonly schedule: TaskSchedule;
  readonly state: 'active' | 'paused' | 'done';
  readonly nextRun: number | null;
  /** True where it would run by now if the source were stopped. */
  readonly isWaiting: boolean;
};

export type PlannedFile = {
  readonly item: string;
  /** Below the project. */
  readonly path: string;
  readonly content: SourceFile['content'];
  /** A heading, where the text goes at the end of a file that is there. */
  readonly appendUnder: string | null;
};

/** One line of the report. */
export type PlanLine = {
  readonly kind: 'comes' | 'changes' | 'waits' | 'stays' | 'code';
  readonly what: string;
  readonly text: string;
};

/** What an import would do, as a value: nothing has happened yet. */
export type Plan = {
  readonly product: Product;
  readonly version: string;
  readonly chats: readonly SourceChat[];
  /** The chats of the new groups, which a source need not list among its chats. */
  readonly groupChats: readonly SourceChat[];
  readonly groups: readonly PlannedGroup[];
  /** How much was said that is not here yet. */
  readonly newMessages: number;
  /** The folder here of each group of the source, by its folder there; what all share is under the empty text. */
  readonly folders: ReadonlyMap<string, string>;
  readonly tasks: readonly PlannedTask[];
  /** Tasks that came before and waited for the take-over. */
  readonly tasksToStart: readonly {
    readonly item: string;
    readonly id: number;
    readonly nextRun: number | null;
  }[];
  readonly files: readonly PlannedFile[];
  readonly settings: readonly (SourceSetting & { readonly item: string })[];
  readonly link: (SourceLink & { readonly item: string }) | null;
  readonly lines: readonly PlanLine[];
  /** The release that lines about code compare with; null for none. */
  readonly codeBase: string | null;
  readonly warnings: readonly string[];
};

const TITLES: Readonly<Record<Product, string>> = {
  nanoclaw: 'NanoClaw',
  openclaw: 'OpenClaw',
  hermes: 'Hermes',
  nanobot: 'nanobot',
  clawft: 'clawft',
};

/** Returns a product's name as people write it. */
export function titleOf(product: Product): string {
  return TITLES[product];
}

/** The name of something that was said, the same in every import. */
export function saidItem(
  product: Product,
  { jid, id }: { readonly jid: string; readonly id: string },
): string {
  return `${product}:said:${jid}|${id}`;
}

/** Tells whether a plan changes nothing. */
export function isEmptyPlan(plan: Plan): boolean {
  const { groups, tasks, tasksToStart, files, settings, link } = plan;
  const lists: readonly (readonly unknown[])[] = [groups, tasks, tasksToStart, files, settings];
  return plan.newMessages === 0 && link === null && lists.every((list) => list.length === 0);
}
