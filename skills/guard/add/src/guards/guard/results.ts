import type { HostToolResult } from '../../sandbox/sandbox.ts';
import { maskText } from './mask.ts';

/** Signs that move a cursor or change colours, and other controls: a model reads them as noise, a terminal obeys. */
const TERMINAL =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\^_])|[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/g;

const DEEPEST = 20;

/**
 * Returns a result as an agent gets it: without signs for a terminal, and, where the host made it, without keys. An
 * agent's own files stay as they are, so that it can edit them.
 */
export function cleanResult(result: HostToolResult, runsIn: 'host' | 'container'): HostToolResult {
  const { ok, value } = result;
  const clean = (text: string) => {
    const plain = text.replace(TERMINAL, '');
    return runsIn === 'host' ? maskText(plain) : plain;
  };
  const cleaned = mapTexts(value, clean, 0);
  return cleaned === value ? result : { ok, value: cleaned };
}

/** Returns the same value where no text of it changes. */
function mapTexts(value: unknown, map: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  const entries = Object.entries(value);
  const mapped = entries.map(([name, one]) => [name, mapTexts(one, map, depth + 1)] as const);
  if (mapped.every(([, one], index) => one === entries[index]?.[1])) return value;
  return Array.isArray(value) ? mapped.map(([, one]) => one) : Object.fromEntries(mapped);
}
