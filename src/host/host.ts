import { createSignal } from '../lib/signal.ts';
import type { MemoryAuthor } from '../store/store.ts';
import { openAddressBook } from './address-book.ts';
import { openAsking } from './asking/asking.ts';
import { openQuestion } from './asking/question.ts';
import { attachmentFetcher } from './attachments/attachments.ts';
import { historyFiles } from './attachments/history-files.ts';
import { openOwnerFiles } from './attachments/owner-files.ts';
import { openBudgets } from './budget/budgets.ts';
import { newestRelease } from './changes/release-update.ts';
import { noteRunningCode } from './changes/running-code.ts';
import { openChannelBoard } from './channel-board.ts';
import { completionsOf } from './command-completion.ts';
import type { Resumption } from './contracts/command.ts';
import type { HostOptions } from './contracts/options.ts';
import { portsOf } from './contracts/ports.ts';
import { openMemoryBook } from './groups/memory-book.ts';
import { openRegistry } from './groups/registry.ts';
import { openInbound } from './inbound-path/inbound.ts';
import { openChatModels } from './models/chat-models.ts';
import { openEmbedding } from './models/embedding.ts';
import { openOutbound } from './outbound/outbound.ts';
import { openBackground } from './services/background.ts';
import { openLiveFeed } from './services/live-feed.ts';
import { shutdown } from './shutdown.ts';
import { startHost } from './start.ts';
import { describeChannel, describeSandbox, machinesOf } from './turns/commands/command-contexts.ts';
import { knownTools } from './turns/tool-calls/toolbox.ts';
import { openTurns } from './turns/turns.ts';

export interface Host {
  /** Takes over turns that were left, connects all channels, and resolves when each has reported its state. */
  start(resumption: Resumption): Promise<void>;
  /** Returns what the beginning of a command in the owner's chat can become, for Tab. */
  complete(typed: string): readonly string[];
  /** Says something in all of the owner's chats that can be reached. */
  tell(text: string): void;
  /** Lets running turns end for `graceMs`, gives the others back, and leaves, in a bounded time. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Opens the path of a message: stored, a turn, an answer, sent. Events move it on; nothing polls.
 *
 * It reads from the end of the path to its beginning: each part gets those after it, and wakes them.
 */
export function openHost(options: HostOptions): Host {
  const ports = portsOf(options);
  const { store, channels, projectDir, timeouts } = ports;
  const { commands, sandbox, http } = options;
  const { channelOf, peopleOf } = openAddressBook(channels);

  const ownerFiles = openOwnerFiles(ports);
  const feed = openLiveFeed(ports);
  const memory = openMemoryBook(ports);
  const silentChannels = options.silentChannels ?? [];
  const board = openChannelBoard({ ...ports, isSet: options.isSet, silentChannels });
  options.logLines?.on((line) => feed.tell({ kind: 'log', line }));

  // Out: from the outbox to the channels.
  const out = openOutbound({
    ports,
    channelOf,
    // Nothing is sent before the budgets are open.
    pay: (folder, work) => budgets.pay(folder, work),
  });
  const outbound = { ...out, live: feed.over(out.live) };
  const { outgoing, outgoingFiles, acknowledging, delivery, live } = outbound;
  outbound.delivered.on(feed.chatChanged);
  const toOwner = { queue: outgoing.queueForOwner, onQueued: delivery.wake };

  const budgets = openBudgets({ ...ports, ...toOwner });

  // Beside the path: tasks and services, which queue turns.
  const turnsQueued = createSignal();
  const { tasks, services } = openBackground({
    ports,
    services: options.services,
    databases: options.databases,
    embed: openEmbedding({ models: options.models, budgets }),
    channelOf,
    http,
    outgoing,
    sandbox,
    // Services start when the host does: turns are open by then.
    calls: {
      ask: (question, signal) => turns.serviceCalls.ask(question, signal),
      offered: (folder) => turns.serviceCalls.offered(folder),
      call: (call, signal) => turns.serviceCalls.call(call, signal),
    },
    owner: {
      say: (jid, text, file, how) => inbound.ownerSays(jid, text, file, how),
      answer: ({ id, jid }, word) => inbound.ownerAnswers(jid, id, word),
      questions: (jid) =>
        store.asks.inChat(store.chats.current(jid)).flatMap((ask) => openQuestion(ask, jid)),
      file: historyFiles({ store, outgoingFiles, ownerFiles, channelOf }),
    },
    readClaw: options.clawReader.read,
    newestRelease: () => newestRelease(options),
    // As turns, they are open by then.
    models: { of: (folder) => chatModels.of(folder), lists: (at) => chatModels.lists(at) },
    modelProblem: () => options.models.problem(),
    memory,
    budgets,
    watch: feed.watch,
    reportChannels: board.report,
    stopTurn: (id) => turns.stopTurn(id),
    onQueued: turnsQueued.emit,
    onMessageQueued: delivery.wake,
  });

  // What turns work with.
  const registry = openRegistry({
    ...ports,
    peopleOf,
    stopAgent: (folder) => sandbox.stop(folder),
    forgetChat: (jid) => channelOf(jid)?.forgetChat?.(jid),
    onRemoved: outgoingFiles.sweep,
  });
  const fetchAttachment = attachmentFetcher({ ...ports, channelOf, ownerFiles });
  const chatModels = openChatModels({
    store,
    models: options.models,
    catalog: options.catalog,
    chooseModels: options.chooseModels,
  });
  const asking = openAsking({ ...ports, onQueued: delivery.wake });
  outbound.delivered.on(asking.delivered);
  options.guards.onBroken(outgoing.tellOwner);
  const engines = options.engines.map(({ name, limits }) => ({ name, limits }));
  const tools = options.tools.with(services.toolSources);
  const toolsKnown = () => knownTools(tools.list(), options.ownTools);
  const noteMemory = (jid: string, author: MemoryAuthor): void => {
    const group = store.groups.byJid(jid);
    if (group === null) return;
    memory.note(group.folder, author);
    if (group.isMain) memory.note('global', author);
  };
  const turns = openTurns({
    ports,
    sandbox,
    services,
    chooseModels: options.chooseModels,
    systemPrompt: options.systemPrompt,
    models: options.models,
    chatModels,
    tools,
    ownTools: options.ownTools,
    guards: options.guards,
    drawsCodes: options.drawsCodes,
    budgets,
    asking,
    outbound,
    fetchAttachment,
    channelOf,
    commandServices: {
      store,
      settings: ports.settings,
      projectDir,
      commands,
      tools: toolsKnown,
      peopleOf,
      registry,
      memory,
      budgets,
      models: chatModels,
      tasks,
      now: ports.now,
      newId: ports.newId,
      engines,
      version: options.version,
      runningCode: noteRunningCode(projectDir, options.composition),
      claw: options.claw,
      git: options.git,
      isSet: options.isSet,
      settingsProblem: options.settingsProblem,
      silentChannels,
      silentParts: options.silentParts ?? [],
      services: services.report,
      pages: http.address,
      channels: () => channels.map(describeChannel),
      sandbox: () => describeSandbox(sandbox),
      machines: () => machinesOf(sandbox),
      progressMs: timeouts.progressMs,
    },
    onQueued: turnsQueued.emit,
    onGivenBack: delivery.wake,
    onBegan(turn) {
      noteMemory(turn.jid, 'file');
      return feed.began(turn);
    },
    onProgress: feed.progressed,
    onEnded(turn, result) {
      delivery.wake();
      noteMemory(turn.jid, 'agent');
      feed.ended(turn, result);
      if (result.kind === 'suspended') options.requestRestart();
      else acknowledging.ended(turn, result);
      asking.wake();
      live.sweep();
    },
  });
  const { turnQueue, followUps } = turns;
  turnsQueued.on(turnQueue.wake);

  // In: what channels hand over.
  const inbound = openInbound({
    ports,
    commands,
    filters: options.filters,
    budgets,
    channelOf,
    ownerFiles,
    http,
    outgoing,
    onStored(jids) {
      turnQueue.wake();
      jids.forEach(followUps.wake);
      jids.forEach(feed.chatChanged);
      asking.wake();
      delivery.wake();
      // After the channel has acknowledged: it must know of the message before it hears of its end.
      setImmediate(() => jids.forEach(acknowledging.check));
    },
    onReaction: services.reacted,
    onFrame: services.takeFrame,
    onLink: services.linkChanged,
    onStatus(channel, status) {
      board.noted(channel, status);
      feed.tell({ kind: 'status', channel, ...status });
    },
    onSendable() {
      delivery.wake();
      live.sweep();
    },
  });

  return {
    start: (resumption) =>
      startHost(
        { ...ports, outbound, turns, services, inbound, asking, trouble: options.trouble },
        resumption,
      ),
    complete: (typed) =>
      completionsOf({ store, projectDir, commands, engines, tools: toolsKnown }, typed),
    tell: outgoing.tellOwnersChats,
    async stop(graceMs) {
      const servicesEnded = services.stop().then(http.close).finally(options.clawReader.close);
      asking.stop();
      inbound.stop();
      live.stop();
      await Promise.all([
        servicesEnded,
        shutdown({ ...ports, sandbox, turnQueue, delivery, graceMs }),
      ]);
      acknowledging.stop();
    },
  };
}
