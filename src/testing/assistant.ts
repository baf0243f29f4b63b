import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type {
  Channel,
  ChannelCapabilities,
  ChannelEvents,
  ChannelStatus,
  Choice,
  ChoiceOutcome,
  Frame,
  InboundMessage,
  KnownChat,
  OutboundDraft,
  OutboundMessage,
  Pairing,
  Person,
  Reaction,
  ReactionOutcome,
} from '../channels/channel.ts';
import { readSettings } from '../config.ts';
import { clawReader, clawRunner } from '../host/contracts/claw.ts';
import { discoverCommands, openCommands } from '../host/contracts/command.ts';
import { gitRunner } from '../host/contracts/git.ts';
import { discoverGuards } from '../host/contracts/guard.ts';
import { discoverInboundFilters } from '../host/contracts/inbound-filter.ts';
import { DEFAULT_TIMEOUTS, type HostOptions } from '../host/contracts/options.ts';
import { discoverPromptSections } from '../host/contracts/prompt-section.ts';
import { discoverServices } from '../host/contracts/service.ts';
import { discoverTools } from '../host/contracts/tool.ts';
import { type Host, openHost } from '../host/host.ts';
import { openInboundFilters } from '../host/inbound-path/filters.ts';
import { realTimer } from '../host/scheduler/alarm.ts';
import { openServices } from '../host/services/services.ts';
import { type LazySandbox, lazySandbox } from '../host/turns/agent/lazy-sandbox.ts';
import { openSystemPrompt } from '../host/turns/agent/system-prompt.ts';
import { openGuards } from '../host/turns/tool-calls/guarded-calls.ts';
import { openTools } from '../host/turns/tool-calls/toolbox.ts';
import { openLoopback } from '../http/loopback.ts';
import { openCatalog } from '../model/catalog/catalog.ts';
import { openModels } from '../model/model.ts';
import { discoverProviders } from '../model/provider.ts';
import { discoverRouters } from '../model/router.ts';
import { openRouting } from '../model/routing.ts';
import { namesOfAgentTools } from '../sandbox/agent-link/tool-names.ts';
import { discoverEngines } from '../sandbox/engines/engine.ts';
import type { Sandbox, TurnEvents, TurnOutcome, TurnRequest } from '../sandbox/sandbox.ts';
import { chosenModel } from '../store/chats/folder-choices.ts';
import { openOwnDatabases } from '../store/own-databases.ts';
import { openStore, type Store } from '../store/store.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const CONNECTED: ChannelStatus = { state: 'connected', detail: null };

/** A channel whose far end is the test: it says things, and sees what is sent. */
export class TestChannel implements Channel {
  readonly name: string;
  readonly sent: OutboundMessage[] = [];
  readonly acknowledged: string[] = [];
  /** Errors for the next messages, taken from the front; while the list is empty, messages go through. */
  readonly failures: Error[] = [];
  /** Answers as they were shown while they were written. */
  readonly drafts: OutboundDraft[] = [];
  readonly takenBack: string[] = [];
  /** Errors for the next steps of drafts. */
  readonly draftFailures: Error[] = [];
  state: ChannelStatus = CONNECTED;
  /** Set by tests whose far end has files. */
  fetchAttachment?: NonNullable<Channel['fetchAttachment']>;
  /** Chats whose files and copies were to be forgotten. */
  readonly forgotten: string[] = [];
  /** Set by tests in which the channel lets everybody through. */
  isOpen = false;
  /** Set by tests in which it can do more than send text. */
  capabilities?: ChannelCapabilities;
  /** Set by tests whose far end is a program. */
  sendFrame?: NonNullable<Channel['sendFrame']>;
  /** Set by tests in which it is paired by `/pair`. */
  pairing?: Pairing;
  #events: ChannelEvents | null = null;
  #count = 0;

  constructor(name: string) {
    this.name = name;
  }

  async connect(events: ChannelEvents): Promise<void> {
    this.#events = events;
    events.onStatus(this.state);
  }

  async disconnect(): Promise<void> {}

  async send(message: OutboundMessage): Promise<void> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    this.sent.push({ ...message });
  }

  async draft(draft: OutboundDraft): Promise<void> {
    const failure = this.draftFailures.shift();
    if (failure !== undefined) throw failure;
    this.drafts.push(draft);
  }

  async takeBack(_jid: string, id: string): Promise<void> {
    const failure = this.draftFailures.shift();
    if (failure !== undefined) throw failure;
    this.takenBack.push(id);
  }

  async setTyping(_jid: string, _isTyping: boolean): Promise<void> {}

  ownsJid(jid: string): boolean {
    return jid.startsWith(`${this.name}:`);
  }

  status(): ChannelStatus {
    return this.state;
  }

  chatAcknowledged(jid: string): void {
    this.acknowledged.push(jid);
  }

  forgetChat(jid: string): void {
    this.forgotten.push(jid);
  }

  become(state: ChannelStatus): void {
    this.state = state;
    this.#events?.onStatus(state);
  }

  /** Hands a message over, and resolves when it may be acknowledged. */
  async say(text: string, over: Partial<InboundMessage> = {}): Promise<void> {
    this.#count += 1;
    const isOwner = this.name === 'terminal';
    await this.#events?.onMessage({
      id: randomUUID(),
      jid: `${this.name}:main`,
      chatName: 'Main',
      isDirect: true,
      sender: 'ada',
      senderName: 'Ada',
      isOwner,
      mentionsAssistant: false,
      text,
      sentAt: Date.UTC(2026, 10, 21, 7, this.#count),
      ...over,
    });
  }

  /** Presses a choice of a question. */
  async press(choice: Choice): Promise<ChoiceOutcome | undefined> {
    return await this.#events?.onChoice?.(choice);
  }

  /** Hands a frame over; true where a service takes it. */
  frame(jid: string, body: Frame['body'], sender = 'board'): boolean {
    return this.#events?.onFrame?.({ jid, sender, body }) === true;
  }

  /** Says something that the owner should know. */
  notice(text: string): void {
    this.#events?.onNotice?.(text);
  }

  /** Puts an emoji on what was sent. */
  async react(reaction: Reaction): Promise<ReactionOutcome | undefined> {
    return await this.#events?.onReaction?.(reaction);
  }

  async meet(jid: string, name: string, over: Partial<KnownChat> = {}): Promise<void> {
    await this.#events?.onChat({ jid, name, isDirect: false, ...over });
  }

  /** Drops messages of a sender, as a channel with an allow-list of its own does. */
  async drop(sender: string): Promise<void> {
    await this.#events?.onStranger?.(sender);
  }

  /** `+1 234 567` is the chat `<channel>:1234567`. */
  personOf(typed: string): Person | null {
    const number = typed.replace(/\D/g, '');
    const address = `${this.name}:${number}`;
    const isPerson = /^\+[\d ]+$/.test(typed) || typed === address;
    return isPerson ? { sender: address, chat: address } : null;
  }
}

export type AgentScript = (request: TurnRequest, events: TurnEvents) => Promise<TurnOutcome>;

/** Returns an outcome as a sandbox reports it. */
export function answers(text: string): TurnOutcome {
  return { kind: 'answered', text, session: 's1', isTruncated: false };
}

/** Returns a sandbox whose agent is the test's. */
export function testSandbox(script: AgentScript): Sandbox {
  return {
    engine: 'bubblewrap',
    description: 'test engine',
    runTurn: script,
    startProgram: () => Promise.reject(new Error('The test engine runs no programs.')),
    stop: async () => {},
    warm: () => 0,
    close: async () => {},
  };
}

/** Returns a sandbox that the test closes itself, so that one serves several assistants. */
export function borrowed(sandbox: Sandbox): LazySandbox {
  return {
    open: async () => ({ kind: 'ready', sandbox }),
    stop: (folder, turn) => sandbox.stop(folder, turn),
    warm: () => sandbox.warm(),
    close: async () => {},
  };
}

export type AssistantParts = {
  readonly agent?: AgentScript;
  readonly environment?: Readonly<Record<string, string>>;
  readonly over?: Partial<HostOptions>;
  /** The terminal's. */
  readonly capabilities?: ChannelCapabilities;
  /** Channels beside the two whose far end is the test. */
  readonly channels?: readonly Channel[];
};

/** A project in a temporary folder, on which one assistant after the other can be started. */
export class TestProject {
  readonly dir = mkdtempSync(join(tmpdir(), 'claw-host-'));
  restarts = 0;

  constructor(files: Readonly<Record<string, string>> = {}) {
    const given = { 'claw.config.yaml': 'check: []\n', ...files };
    for (const [path, text] of Object.entries(given)) {
      mkdirSync(dirname(join(this.dir, path)), { recursive: true });
      writeFileSync(join(this.dir, path), text);
    }
  }

  start(parts: AssistantParts = {}, rolledBack: string | null = null): Promise<TestAssistant> {
    const requestRestart = () => {
      this.restarts += 1;
    };
    const over = { requestRestart, ...parts.over };
    return startAssistant(this.dir, { ...parts, over }, rolledBack);
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Starts an assistant on a project, with the test at both ends of it. */
export async function startAssistant(
  dir: string,
  parts: AssistantParts = {},
  rolledBack: string | null = null,
): Promise<TestAssistant> {
  const { agent = async () => answers('pong'), environment = {}, over = {} } = parts;
  const databases = openOwnDatabases({ dataDir: join(dir, 'data'), now: Date.now });
  const terminal = new TestChannel('terminal');
  const chat = new TestChannel('chat');
  if (parts.capabilities !== undefined) terminal.capabilities = parts.capabilities;
  const withKey = { ANTHROPIC_API_KEY: 'sk-test', ...environment };
  const settings = readSettings(withKey, dir);
  const store = openStore({
    path: join(dir, 'data/claw.db'),
    now: Date.now(),
    messagesShown: settings.messagesShown,
  });
  const [commandFiles, toolFiles] = await Promise.all([discoverCommands(), discoverTools()]);
  const log = { info() {}, warn() {}, error() {}, ...over.log };
  const models = openModels(await discoverProviders(), withKey, { settings });
  const catalog = openCatalog({ models, now: Date.now });
  const chosenFor = (folder: string) => chosenModel(store.modelChoices, folder);
  const routing = { models, log, now: Date.now, chosenFor, catalog };
  const { chooseModels } = openRouting(await discoverRouters(), environment, routing);
  const { systemPrompt } = openSystemPrompt(await discoverPromptSections(), environment, {
    assistantName: settings.assistantName,
    dataDir: settings.dataDir,
    timeZone: over.timeZone ?? 'UTC',
    log,
  });
  const { guards } = openGuards(await discoverGuards(), environment, {
    dataDir: settings.dataDir,
    groupsDir: join(dir, 'groups'),
    timeZone: 'UTC',
    log,
    now: over.now ?? Date.now,
    newId: randomUUID,
  });
  const { filters } = openInboundFilters(await discoverInboundFilters(), environment, {
    assistantName: settings.assistantName,
    dataDir: settings.dataDir,
    timeZone: 'UTC',
    log,
    now: Date.now,
    newId: randomUUID,
  });
  const { tools } = openTools(toolFiles, environment, {
    assistantName: settings.assistantName,
    dataDir: settings.dataDir,
    groupsDir: join(dir, 'groups'),
    timeZone: 'UTC',
    log,
    now: Date.now,
    newId: randomUUID,
  });
  const host = openHost({
    projectDir: dir,
    version: '0.1.0',
    settings,
    store,
    channels: [terminal, chat, ...(parts.channels ?? [])],
    commands: openCommands(commandFiles, environment).commands,
    tools,
    guards,
    filters,
    engines: await discoverEngines(),
    ownTools: namesOfAgentTools(REPOSITORY),
    models,
    catalog,
    chooseModels,
    systemPrompt,
    databases,
    http: openLoopback({
      dataDir: settings.dataDir,
      origins: settings.pageOrigins,
      setTimer: realTimer,
      now: Date.now,
      log,
    }),
    services: openServices(await discoverServices(), environment).services,
    sandbox: lazySandbox(async () => ({ kind: 'ready', sandbox: testSandbox(agent) })),
    claw: clawRunner({
      nodePath: process.execPath,
      clawPath: join(REPOSITORY, 'bin/claw.js'),
      projectDir: dir,
      // Whose test starts no model has none that answers.
      environment: {
        PATH: process.env['PATH'],
        HOME: dir,
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        ...environment,
      },
      modelKey: { ANTHROPIC_API_KEY: 'sk-test' },
    }),
    clawReader: clawReader({
      nodePath: process.execPath,
      readerPath: join(REPOSITORY, 'bin/claw-reader.js'),
      projectDir: dir,
      environment: { PATH: process.env['PATH'], HOME: dir },
      idleMs: 60_000,
    }),
    git: gitRunner({ projectDir: dir, environment: { PATH: process.env['PATH'], HOME: dir } }),
    mainChat: { jid: 'terminal:main', name: 'Terminal' },
    instance: randomUUID(),
    now: Date.now,
    setTimer: realTimer,
    newId: randomUUID,
    timeZone: 'UTC',
    drawsCodes: false,
    composition: null,
    isSet: (setting) => setting in environment,
    settingsProblem: () => null,
    trouble: null,
    log,
    requestRestart: () => {},
    timeouts: { ...DEFAULT_TIMEOUTS, retryMs: 10, progressMs: 10 },
    ...over,
  });
  await host.start({ rolledBack });
  return { host, store, terminal, chat, stop };

  async function stop(graceMs = 1_000): Promise<void> {
    await host.stop(graceMs);
    store.close();
    databases.close();
  }
}

export type TestAssistant = {
  readonly host: Host;
  readonly store: Store;
  readonly terminal: TestChannel;
  readonly chat: TestChannel;
  /** @param graceMs time for turns at work to end: none where the test's agent never ends */
  readonly stop: (graceMs?: number) => Promise<void>;
};

/** Returns the texts that a channel has sent so far. */
export function textsOf(channel: TestChannel): readonly string[] {
  return channel.sent.map(({ text }) => text);
}

/** Returns the same without the lines that tell how far a slow turn is. */
export function answersOf(channel: TestChannel): readonly string[] {
  return textsOf(channel).filter((text) => !isProgressLine(text));
}

/** Tells whether a message is a line that tells how far a slow turn is, such as `… thinking`. */
export function isProgressLine(text: string | null | undefined): boolean {
  return text?.startsWith('… ') === true;
}
