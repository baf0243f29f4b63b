import { beforeEach } from 'vitest';

/** Each chapter of a story stands on the one before: after a failure the others would only wait. */
export function endAtFirstFailure(): void {
  let hasFailed = false;
  beforeEach(({ skip, onTestFailed }) => {
    skip(hasFailed, 'a chapter before it failed');
    onTestFailed(() => {
      hasFailed = true;
    });
  });
}
