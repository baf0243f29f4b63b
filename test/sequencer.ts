import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What waits for containers and package managers most of its time, so that it does so beside the rest.
const LONGEST = [
  '/test/day/',
  '/test/skills',
  '/conflicts.long.',
  '/test/story/',
  '/src/supervisor/',
  '/test/',
  '/src/sandbox/',
  '/src/doctor/',
];

/** The long files first, whatever an earlier run has measured: a clone has no earlier run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((folder) => moduleId.includes(folder));
      return place === -1 ? LONGEST.length : place;
    };
    return [...files].sort(
      (one, other) => rank(one) - rank(other) || (one.moduleId < other.moduleId ? -1 : 1),
    );
  }
}
