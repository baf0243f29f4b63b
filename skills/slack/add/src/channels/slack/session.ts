import { SocketModeClient } from '@slack/socket-mode';
import type { WebClientOptions } from '@slack/web-api';
import { z } from 'zod';
import type { ChannelLog } from '../channel.ts';
import { guardFrames } from './frames.ts';
import { slackLogger } from './logger.ts';

/** Slack says hello within a second; a line without one is dead. */
const HELLO_MS = 15_000;

/** The time that the other end has to agree to the end before the line is cut. */
const GOODBYE_MS = 500;

export type SessionOptions = {
  readonly appToken: string;
  readonly clientOptions: WebClientOptions;
  readonly log: ChannelLog;
  /** Resolves when what is in the envelope is stored. */
  readonly take: (body: unknown) => Promise<void>;
  /** Resolves when the press in the envelope is stored. */
  readonly takePress: (body: unknown) => Promise<void>;
  /** Ends the session, when what was received before is acknowledged. */
  readonly signal: AbortSignal;
};

const Envelope = z.looseObject({
  type: z.string(),
  body: z.unknown(),
  ack: z.custom<() => Promise<void>>((value) => typeof value === 'function'),
});

/**
 * Opens one WebSocket of socket mode and resolves when Slack has said hello. The promise in the
 * result resolves when the line is down, from either end.
 *
 * An envelope is acknowledged once it is stored. Bolt, Slack's framework, acknowledges before listeners run, and brings a
 * web server.
 */
export async function openSession(options: SessionOptions): Promise<{ closed: Promise<void> }> {
  const { appToken, clientOptions, log, signal } = options;
  const client = new SocketModeClient({
    appToken,
    logger: slackLogger(log),
    autoReconnectEnabled: false,
    clientOptions,
  });
  guardFrames(client, log);
  const underway = new Set<Promise<void>>();
  client.on('slack_event', (event: unknown) => {
    const receiving = receive(event, options).finally(() => underway.delete(receiving));
    underway.add(receiving);
  });
  const end = async () => {
    await Promise.all(underway);
    void client.disconnect();
    // Asked a second time, the client does not wait for the other end any more.
    setTimeout(() => void client.disconnect(), GOODBYE_MS).unref();
  };
  signal.addEventListener('abort', end);
  const late = setTimeout(end, HELLO_MS);
  try {
    await client.start();
  } catch (error) {
    signal.removeEventListener('abort', end);
    throw error;
  } finally {
    clearTimeout(late);
  }
  const closed = new Promise<void>((resolve) => client.once('disconnected', resolve));
  if (signal.aborted) void end();
  return { closed: closed.finally(() => signal.removeEventListener('abort', end)) };
}

async function receive(
  event: unknown,
  { log, take, takePress }: Pick<SessionOptions, 'log' | 'take' | 'takePress'>,
): Promise<void> {
  const { type, body, ack } = Envelope.parse(event);
  try {
    if (type === 'events_api') await take(body);
    if (type === 'interactive') await takePress(body);
  } catch (error) {
    log.warn('a message from Slack was not stored and will be sent again', {
      cause: error instanceof Error ? error.message : String(error),
    });
    return;
  }
  try {
    await ack();
  } catch {
    log.info('Slack will send the last message again: the line was cut before it was acknowledged');
  }
}
