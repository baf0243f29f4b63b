import type { z } from 'zod';
import type { Protocol } from './protocol.ts';

/**
 * Creates the check of a protocol's requests. Unlisted names, and values that do not fit, are refused, and the agent
 * is told which.
 */
export function problemBy(names: readonly string[], plain: z.ZodType): Protocol['problemOf'] {
  return (request) => {
    const unknown = Object.keys(request).find((name) => !names.includes(name));
    if (unknown !== undefined) return `${JSON.stringify(unknown)} cannot be asked for here.`;
    const [issue] = plain.safeParse(request).error?.issues ?? [];
    if (issue === undefined) return null;
    return `The value of ${issue.path.join('.')} cannot be asked for here.`;
  };
}
