import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { ModelMessage, ToolSet } from 'ai';
import { endpointIn } from '../../../src/sandbox/protocol/endpoint.ts';
import type { TurnFrame } from '../../../src/sandbox/protocol/frames.ts';
import { HOST_SOCKET } from '../../../src/sandbox/protocol/protocol.ts';
import { noticeOfEnd } from '../answer-end.ts';
import { afterEarlierCalls } from '../conversation/earlier-calls.ts';
import { SESSIONS_DIR, Session } from '../conversation/session.ts';
import { socketFetch } from '../host/socket-fetch.ts';
import { toolsWithLoops } from '../loop.ts';
import { languageModel } from '../model.ts';
import { messageWith, withNotes, withoutPictures } from '../pictures/seen-pictures.ts';
import type { AnswerParts } from '../turn.ts';
import { BUILT_IN, REPLACED } from './built-in-tools.ts';
import { conversationBefore } from './conversation.ts';
import { openForwarder } from './forwarder.ts';
import { Inbox } from './inbox.ts';
import { followMessages } from './messages.ts';
import type { Sdk, SdkInput, SdkOptions } from './sdk.ts';
import { createToolHooks } from './tool-hooks.ts';
import { createToolServer } from './tool-server.ts';
import { apiMessages, sessionEntries } from './transcript.ts';
import { Said } from './turn-messages.ts';

/** Longer than any turn: how long a person takes for an approval is the host's matter. */
const HOOK_SECONDS = 86_400;

/** The SDK's files of one turn. The home folder cannot be written, and nothing of them has to stay. */
const WORK_DIR = '/tmp/claude-agent';

const NAMES =
  'Here, `shell` is called Bash, `list_files` Glob, `write_file` Write and `edit_file` Edit; ' +
  'Read is for text and pictures, `read_file` for PDF.';

/**
 * Answers a turn with the Agent SDK's loop.
 *
 * The conversation stays the agent's own: the SDK gets it anew in each turn, and what was said is kept in the
 * same transcript. So either loop can go on where the other ended.
 *
 * @returns the session's id
 * @throws why the model did not answer
 */
export async function answerWithSdk(
  sdk: Sdk,
  frame: TurnFrame,
  parts: AnswerParts,
): Promise<string> {
  const { followUps, prompts, readPicture, send, text } = parts;
  const session = await Session.open(SESSIONS_DIR, frame.session);
  const question = await messageWith(frame.prompt, frame.pictures ?? [], readPicture);
  const asked = afterEarlierCalls(frame, withNotes(question, frame.notes));
  if (asked.length > 1) asked.push(GO_ON);
  const conversation = await conversationBefore(session, frame.model, readPicture);
  // The SDK takes words as its input: what was done before is a part of the conversation.
  const before = [...conversation, ...asked.slice(0, -1)];
  const over = new AbortController();
  const tools = frame.model.callsTools
    ? toolsWithLoops(frame, parts, languageModel(frame.model, 'subagent'))
    : {};
  const system = await prompts.forTurn({ frame, tools: Object.keys(tools) });
  const hooks = createToolHooks(frame, parts);
  const forwarder = await openForwarder({
    model: frame.model.model,
    fetch: socketFetch(hostAddress()),
    onFault: () => over.abort(),
  });
  const inbox = new Inbox<SdkInput>();
  const said = new Said();
  try {
    inbox.push(inputOf(asked.at(-1) ?? question));
    const { model, maxRounds } = frame;
    const messages = sdk.query({
      prompt: inbox,
      options: {
        ...FIXED,
        ...resumed(apiMessages(before)),
        abortController: over,
        env: environment(forwarder.url, frame),
        model: model.model,
        systemPrompt: `${system}\n\n${NAMES}`,
        tools: builtInNames(frame, tools),
        mcpServers: { claw: createToolServer(sdk, others(tools), over.signal) },
        maxTurns: maxRounds,
        hooks: {
          PreToolUse: [{ timeout: HOOK_SECONDS, hooks: [hooks.before] }],
          PostToolUse: [{ timeout: HOOK_SECONDS, hooks: [hooks.after] }],
          PostToolUseFailure: [{ timeout: HOOK_SECONDS, hooks: [hooks.afterFailure] }],
        },
      },
    });
    const { isCutShort, tokens, stopReason } = await followMessages(messages, {
      inbox,
      said,
      text,
      followUps,
      inputOf,
      tookIn: (id) => void send({ type: 'took', turn: frame.id, id }),
    });
    if (forwarder.fault !== null) throw forwarder.fault;
    const kept: ModelMessage[] = [...asked, ...said.messages];
    const notice = isCutShort
      ? `I stopped after ${maxRounds} rounds of tool calls. Say "go on" to continue.`
      : noticeOfEnd(endOf(stopReason), !text.isEmpty);
    if (notice !== null) {
      text.endStep();
      text.add(notice);
      kept.push({ role: 'assistant', content: notice });
    }
    // Without it, two questions would follow each other. The host is sent nothing: in a task, that is a
    // way to stay silent.
    if (text.isEmpty || kept.at(-1)?.role !== 'assistant') {
      kept.push({ role: 'assistant', content: '(ended without a word)' });
    }
    await session.append(kept.map(withoutPictures), tokens);
    return session.id;
  } catch (error) {
    throw forwarder.fault ?? error;
  } finally {
    inbox.close();
    over.abort();
    hooks.end();
    forwarder.close();
    // Pictures of a long conversation would fill /tmp in a few turns.
    await rm(WORK_DIR, { recursive: true, force: true }).catch(() => {});
  }
}

const GO_ON: ModelMessage = {
  role: 'user',
  content: '(Your work on this was interrupted. Go on from what is done.)',
};

/** Returns the end of an answer in the words of the agent's own loop. */
function endOf(stopReason: string | null): Parameters<typeof noticeOfEnd>[0] {
  const isLength = stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded';
  return { finishReason: isLength ? 'length' : 'stop', rawFinishReason: stopReason ?? undefined };
}

/** Returns the options that let the SDK go on with a conversation; none for a new one. */
function resumed(
  before: ReturnType<typeof apiMessages>,
): Pick<SdkOptions, 'resume' | 'sessionId' | 'sessionStore'> {
  // A name of its own in each turn, so that nothing of an earlier one is found.
  const id = randomUUID();
  const sessionStore = { load: async () => sessionEntries(id, before), append: async () => {} };
  return before.length === 0 ? { sessionId: id, sessionStore } : { resume: id, sessionStore };
}

function hostAddress(): Parameters<typeof socketFetch>[0] {
  const endpoint = endpointIn(process.env);
  return endpoint.kind === 'tcp' ? endpoint : HOST_SOCKET;
}

function inputOf(message: ModelMessage): SdkInput {
  const content = apiMessages([message]).flatMap((one) => one.content);
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: null,
    client_composed: true,
  };
}

/** Returns the SDK's own tools of a turn: those whose tool of the agent's is not switched off. */
function builtInNames({ tools: hosts }: TurnFrame, tools: ToolSet): readonly string[] {
  const isOwn = (own: string) =>
    tools[own] !== undefined && !hosts.some(({ name }) => name === own);
  return Object.entries(BUILT_IN).flatMap(([name, { own }]) => (isOwn(own) ? [name] : []));
}

function others(tools: ToolSet): ToolSet {
  return Object.fromEntries(Object.entries(tools).filter(([name]) => !REPLACED.has(name)));
}

const FIXED = {
  cwd: '/workspace/group',
  strictMcpConfig: true,
  // Settings in the group's folder could name programs to run before each tool.
  settingSources: [],
  thinking: { type: 'disabled' },
  includePartialMessages: true,
  // Tells when a follow-up was taken in.
  extraArgs: { 'replay-user-messages': null },
  stderr: (text: string) => console.error(text.trimEnd()),
} as const;

/** The longest command, also where the model asks for more time. */
function bashLimits(ms: number): SdkOptions['env'] {
  return { BASH_DEFAULT_TIMEOUT_MS: `${ms}`, BASH_MAX_TIMEOUT_MS: `${ms}` };
}

function environment(
  url: string,
  { model: { contextTokens }, shellTimeoutMs }: TurnFrame,
): SdkOptions['env'] {
  return {
    ...process.env,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'added-by-the-host',
    ...(shellTimeoutMs === undefined ? {} : bashLimits(shellTimeoutMs)),
    CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1',
    CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
    CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(contextTokens),
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
    CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1',
    CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
    CLAUDE_CODE_TMPDIR: WORK_DIR,
    CLAUDE_CONFIG_DIR: WORK_DIR,
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    ENABLE_TOOL_SEARCH: 'false',
    MCP_TOOL_TIMEOUT: String(HOOK_SECONDS * 1_000),
  };
}
