import { checkDependencies } from '../dependencies.ts';
import { checkEnvAdditions } from './env-names.ts';
import type { Structured } from './manifest.ts';
import { checkServices } from './services.ts';

/**
 * Checks what a package declares for structured files: npm and Debian packages, settings, services.
 *
 * @throws ClawError DEPENDENCY_REFUSED, ENV_INVALID, COMPOSE_REFUSED, in this order, with the place in
 * the manifest
 */
export function checkDeclarations(structured: Structured): void {
  checkDependencies(structured);
  checkEnvAdditions(structured.envAdditions);
  checkServices(structured.composeServices);
}
