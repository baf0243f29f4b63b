import type { ILogger } from '@whiskeysockets/baileys/lib/Utils/logger.js';
import type { ChannelLog } from '../../channel.ts';

/**
 * Baileys' log for ours: its messages alone, from warnings on. What it logs beside them holds keys,
 * numbers and texts.
 */
export function baileysLog(log: ChannelLog): ILogger {
  const nothing = (): void => {};
  const logger: ILogger = {
    level: 'warn',
    child: () => logger,
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: (data, message) => log.info(`baileys: ${wordsOf(data, message)}`),
    error: (data, message) => log.info(`baileys: ${wordsOf(data, message)}`),
  };
  return logger;
}

function wordsOf(data: unknown, message: string | undefined): string {
  return message ?? (typeof data === 'string' ? data : 'an error without words');
}
