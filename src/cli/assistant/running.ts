import { connectControl } from '../../supervisor/control/client.ts';

/** Tells whether an assistant runs on a data folder and answers on its socket. */
export async function isAssistantRunning(dataDir: string): Promise<boolean> {
  const control = await connectControl(dataDir, { onMessage: () => {}, onEnd: () => {} });
  control?.close();
  return control !== null;
}
