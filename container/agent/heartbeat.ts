import type { AgentTool } from './agent-tool.ts';

const EVERY_MS = 1_000;

/**
 * Says again and again that a tool is at work: a long command is no hung agent, which says nothing.
 *
 * A tool may outlive its turn when the model fails beside it; nothing more is said of it then.
 */
export class Heartbeat {
  readonly #beat: () => void;
  #isOver = false;

  constructor(beat: () => void) {
    this.#beat = beat;
  }

  during(tool: AgentTool): AgentTool {
    return {
      ...tool,
      run: async (input, context) => {
        const timer = setInterval(() => {
          if (!this.#isOver) this.#beat();
        }, EVERY_MS);
        try {
          return await tool.run(input, context);
        } finally {
          clearInterval(timer);
        }
      },
    };
  }

  end(): void {
    this.#isOver = true;
  }
}
