/** Which connection has to go when there are too many: the oldest on which no answer is under way. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type OldestFirst = {
  readonly add: (socket: Socket) => void;
  readonly remove: (socket: Socket) => void;
  /** A request came on it, and this is to be its answer. */
  readonly answering: (socket: Socket, answer: ServerResponse) => void;
  /** The newest itself goes when all others are being answered. */
  readonly cutOne: () => void;
};

export function oldestFirst(): OldestFirst {
  const cuttable = new Map<Socket, ServerResponse | undefined>();
  /** Set aside while the answer is under way, or every search would pass thousands of them again. */
  const aside = new Set<Socket>();

  const setAside = (socket: Socket, answer: ServerResponse): void => {
    cuttable.delete(socket);
    aside.add(socket);
    answer.once("close", () => {
      if (aside.delete(socket)) cuttable.set(socket, undefined);
    });
  };

  return {
    add: (socket) => cuttable.set(socket, undefined),
    remove: (socket) => {
      cuttable.delete(socket);
      aside.delete(socket);
    },
    answering: (socket, answer) => {
      if (cuttable.has(socket) && !isUnderWay(cuttable.get(socket))) cuttable.set(socket, answer);
    },
    cutOne: () => {
      for (const [socket, answer] of cuttable) {
        if (isUnderWay(answer)) {
          setAside(socket, answer);
          continue;
        }
        cuttable.delete(socket);
        socket.destroy();
        return;
      }
    },
  };
}

function isUnderWay(answer: ServerResponse | undefined): answer is ServerResponse {
  return answer?.headersSent === true && !answer.writableEnded;
}
