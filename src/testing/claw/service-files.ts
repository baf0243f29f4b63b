import {
  discoverServices,
  type EndedTurn,
  type ServiceContext,
} from '../../host/contracts/service.ts';
import { openServices } from '../../host/services/services.ts';
import { ContributionFolder } from '../contributions.ts';

const IMPORTS = `import { z } from 'zod';
import { defineService } from 'src/host/contracts/service.ts';\n`;

/** Returns the text of a file that defines a service. */
export const serviceFile = (name: string, body: string) =>
  `${IMPORTS}export const service = defineService({ name: '${name}', ${body} });`;

/** Runs services of a folder beside the scheduler; they report by `globalThis.serviceTest`. */
export async function servicesOf(
  files: Readonly<Record<string, string>>,
  environment: Record<string, string> = {},
) {
  using folder = new ContributionFolder(files);
  const own = await discoverServices(folder.dir);
  // Without those of the skills that may be in this tree.
  const ofCore = (await discoverServices()).filter(({ name }) => name === 'scheduler');
  return openServices([...ofCore, ...own], environment);
}

/** Reports of the services of a test, which find it as `globalThis.serviceTest`. */
export const seen = {
  starts: 0,
  stops: 0,
  contexts: [] as (ServiceContext & { settings: object })[],
  ended: [] as EndedTurn[],
};
Object.assign(globalThis, { serviceTest: seen });

/** A service with one setting, which it needs. */
export const PLAIN = serviceFile(
  'plain',
  `settings: z.object({ PLAIN_WORD: z.string().max(3, 'must be short').optional() }),
   needs: ['PLAIN_WORD'],
   start: (context) => {
     globalThis.serviceTest.contexts.push(context);
     return { stop() {}, status: () => null };
   }`,
);

/** Tells work that is not a turn's own: a summary, a sub-agent. */
export const isSideWork = (taskType: string) => ['summary', 'subagent'].includes(taskType);

/** Forgets what services of earlier tests reported. */
export function reset(): void {
  Object.assign(seen, { starts: 0, stops: 0, contexts: [], ended: [] });
}
