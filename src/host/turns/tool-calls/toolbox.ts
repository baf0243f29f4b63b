import { z } from 'zod';
import {
  type NamedContribution,
  openContributions,
  type SilentContribution,
} from '../../../lib/contribution.ts';
import { NO_DATABASES, type OwnDatabases } from '../../../lib/own-database.ts';
import type { Environment } from '../../../lib/settings.ts';
import type { HostTool } from '../../../sandbox/sandbox.ts';
import type { KnownTool } from '../../contracts/command.ts';
import type { HostLog } from '../../contracts/log.ts';
import {
  isToolName,
  type Tool,
  type ToolContext,
  type ToolContribution,
  type ToolSource,
} from '../../contracts/tool.ts';

/** The host's tools. Those of lists may be others at each turn. */
export interface Toolbox {
  /** Returns the tools as they are now, each name once. */
  list(): readonly Tool[];
  /** Returns a toolbox that holds the tools of these sources as well. */
  with(sources: readonly NamedContribution<ToolSource>[]): Toolbox;
}

/** Describes all tools for the owner, by name: the host's, and the agent's own. */
export function knownTools(
  tools: readonly Tool[],
  ownTools: readonly string[],
): readonly KnownTool[] {
  const host = tools.map(({ name, isMainOnly }) => ({ name, runsIn: 'host', isMainOnly }) as const);
  const own = ownTools
    .filter((name) => !tools.some((tool) => tool.name === name))
    .map((name) => ({ name, runsIn: 'container', isMainOnly: false }) as const);
  return [...host, ...own].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Opens the tools of this tree, each with its own settings; those whose settings cannot be used, or that
 * have nothing set, stay silent.
 *
 * @param databases without them, a tool that opens one stays silent
 */
export function openTools(
  definitions: readonly ToolContribution[],
  environment: Environment,
  {
    assistantName,
    dataDir,
    groupsDir,
    timeZone,
    log,
    now,
    newId,
  }: Omit<ToolContext, 'openDatabase'>,
  databases: OwnDatabases = NO_DATABASES,
): { readonly tools: Toolbox; readonly silent: readonly SilentContribution[] } {
  const contextOf = (name: string) => ({
    assistantName,
    dataDir,
    groupsDir,
    timeZone,
    log,
    now,
    newId,
    openDatabase: databases.of('tool', name),
  });
  const { made, silent } = openContributions(definitions, environment, contextOf);
  // A tool of a file that cannot be described ends the start with an error that names it.
  for (const { value } of made) if (value.kind === 'one') describeTool(value.tool);
  return { tools: toolboxOf(made, log), silent };
}

/**
 * Puts tools together. The discovered ones have names of their own, which is checked when they are
 * found. Of a list, a tool whose name is taken or unusable is left out, and the log says so once.
 */
function toolboxOf(sources: readonly NamedContribution<ToolSource>[], log: HostLog): Toolbox {
  const told = new Set<string>();

  function tellOnce(message: string, data: Readonly<Record<string, unknown>>): void {
    const key = JSON.stringify([message, data]);
    if (told.has(key)) return;
    told.add(key);
    log.warn(message, data);
  }

  function listOf({ name, value }: NamedContribution<ToolSource>): readonly Tool[] {
    if (value.kind === 'one') return [value.tool];
    try {
      return value.list();
    } catch (error) {
      tellOnce('a list of tools cannot be read', { list: name, error: String(error) });
      return [];
    }
  }

  return {
    with: (more) => toolboxOf([...sources, ...more], log),
    list() {
      const holders = new Map<string, string>();
      const tools: Tool[] = [];
      for (const source of oneBeforeLists(sources)) {
        for (const tool of listOf(source)) {
          const holder = holders.get(tool.name);
          const data = { tool: tool.name, list: source.name };
          if (holder !== undefined) {
            tellOnce('two tools have one name, the second is left out', { ...data, holder });
          } else if (!isToolName(tool.name)) {
            tellOnce('a tool has a name that no model takes, it is left out', data);
          } else if (!isDescribable(tool)) {
            tellOnce('a tool has an input that no schema describes, it is left out', data);
          } else {
            holders.set(tool.name, source.name);
            tools.push(tool);
          }
        }
      }
      return tools;
    },
  };
}

/** Puts tools of files before those of servers, so that a server's tool never replaces one of a file. */
function oneBeforeLists(
  sources: readonly NamedContribution<ToolSource>[],
): readonly NamedContribution<ToolSource>[] {
  const isOne = ({ value }: NamedContribution<ToolSource>): boolean => value.kind === 'one';
  return [...sources.filter(isOne), ...sources.filter((source) => !isOne(source))];
}

/** The JSON schemas that were made so far: a tool's schema stays, and it is described at each turn. */
const schemas = new WeakMap<z.ZodType, Readonly<Record<string, unknown>>>();

/** Describes a tool for the model. */
export function describeTool({ name, description, input, inputSchema }: Tool): HostTool {
  return { name, description, inputSchema: inputSchema ?? schemaOf(input) };
}

function isDescribable(tool: Tool): boolean {
  try {
    describeTool(tool);
    return true;
  } catch {
    return false; // The toolbox leaves it out and says so.
  }
}

function schemaOf(input: z.ZodType): Readonly<Record<string, unknown>> {
  const kept = schemas.get(input);
  if (kept !== undefined) return kept;
  const schema = z.toJSONSchema(input);
  schemas.set(input, schema);
  return schema;
}
