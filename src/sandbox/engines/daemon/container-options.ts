import type { ContainerCreateOptions } from 'dockerode';
import { endpointVariables } from '../../protocol/endpoint.ts';
import {
  AGENT_NODE_FLAGS,
  type ContainerSpec,
  type Mount,
  type ProgramContainerSpec,
} from '../engine.ts';

export type ContainerParts<Spec = ContainerSpec> = {
  readonly spec: Spec;
  readonly image: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `uid:gid` inside the container. */
  readonly user: string;
  readonly securityOptions: readonly string[];
  /**
   * podman's own default is one that it may not be allowed to set. Elsewhere there is none: it would
   * count all processes of that user on the machine, where `PidsLimit` counts the container's.
   */
  readonly needsProcessUlimit: boolean;
  /** The mapping of user ids, where the engine has to be told. */
  readonly userNamespace: string | null;
};

/** Returns a hardened container with the agent as its only process, as Docker's API wants it. */
export function containerOptions(parts: ContainerParts): ContainerCreateOptions {
  const { spec } = parts;
  const variables = Object.entries(endpointVariables(spec.endpoint)).map(
    ([name, value]) => `${name}=${value}`,
  );
  const zone = spec.timeZone === undefined ? [] : [`TZ=${spec.timeZone}`];
  return {
    ...hardened(parts),
    Entrypoint: ['node', ...AGENT_NODE_FLAGS, '/opt/claw/agent.mjs'],
    Cmd: [],
    Env: ['HOME=/home/node', ...zone, ...variables],
    WorkingDir: '/workspace/group',
  };
}

/** Returns a container with a program as its only process, whose streams are attached to. */
export function programOptions(
  parts: ContainerParts<ProgramContainerSpec>,
): ContainerCreateOptions {
  const { command, environment, hasNetwork } = parts.spec;
  const options = hardened(parts);
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return {
    ...options,
    Entrypoint: [...command],
    Cmd: [],
    Env: [...variables, 'HOME=/home/node'],
    WorkingDir: '/home/node',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      ...options.HostConfig,
      ...(hasNetwork ? { NetworkMode: 'bridge' } : {}),
      // Its output is read as it comes, and may be long.
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}

type Hardened = {
  readonly limits: ContainerSpec['limits'];
  readonly mounts: readonly Mount[];
};

function hardened(parts: ContainerParts<Hardened>): ContainerCreateOptions {
  const { spec } = parts;
  const { memoryBytes } = spec.limits;
  return {
    name: parts.name,
    Image: parts.image,
    Labels: { ...parts.labels },
    User: parts.user,
    HostConfig: {
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true', ...parts.securityOptions],
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': 'rw,nosuid,nodev,size=64m,mode=1777' },
      PidsLimit: spec.limits.processes,
      Memory: memoryBytes,
      // Equal to Memory: no swap on top of it.
      MemorySwap: memoryBytes,
      NanoCpus: spec.limits.cpus * 1e9,
      NetworkMode: 'none',
      Init: true,
      IpcMode: 'private',
      Ulimits: [
        { Name: 'nofile', Soft: 1024, Hard: 4096 },
        ...(parts.needsProcessUlimit ? [{ Name: 'nproc', Soft: 4096, Hard: 4096 }] : []),
      ],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
      Mounts: spec.mounts.map(({ source, target, isWritable }) => ({
        Type: 'bind',
        Source: source,
        Target: target,
        ReadOnly: !isWritable,
      })),
      ...(parts.userNamespace === null ? {} : { UsernsMode: parts.userNamespace }),
    },
  };
}
