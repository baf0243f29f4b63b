import type { Environment } from './environment.ts';

/** The assistant waits more than it computes. V8's `--optimize-for-size` would save a megabyte, and make each message slower by a tenth. */
export const SMALL_HEAP = ['--max-semi-space-size=2'];

/**
 * Settings of the C library's allocator (glibc; mallopt(3)) with which it gives back the pages that a start
 * needed once: two areas for all threads, and what is larger than 32 KB apart, so that it goes when it is free.
 * Other C libraries do not know them.
 */
const SMALL_ALLOCATOR: Environment = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '1048576',
  MALLOC_TOP_PAD_: '65536',
};

/** Returns the environment for a process that keeps little memory; the owner's settings win. */
export function withSmallAllocator(environment: Environment): Environment {
  return { ...SMALL_ALLOCATOR, ...environment };
}

/** Takes the allocator's settings out of the environment of the process that has read them: they are not for its children. */
export function forgetSmallAllocator(environment: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(SMALL_ALLOCATOR)) {
    if (environment[name] === value) delete environment[name];
  }
}
