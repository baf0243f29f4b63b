import { type Logger, LogLevel } from '@slack/web-api';
import type { ChannelLog } from '../channel.ts';

/** Keeps Slack's client off the console: its complaints go to the log, its chatter nowhere. */
export function slackLogger(log: ChannelLog): Logger {
  const complain = (...words: readonly unknown[]) => log.warn(words.map(String).join(' '));
  return {
    debug() {},
    info() {},
    warn: complain,
    error: complain,
    setLevel() {},
    getLevel: () => LogLevel.WARN,
    setName() {},
  };
}
