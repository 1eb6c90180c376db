/** Lists stop signals of images: which ones let the main program finish its requests, and which ones the images set. */
import { type Image, isBefore, parseImage } from "../../kubernetes/image.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

type StopSignalFact = {
  readonly images: readonly string[];
  readonly program: string;
  readonly gracefulSignal: string | undefined;
  /** Whether the program, on the graceful signal, also closes keep-alive connections without losing requests (docs/systems.md). */
  readonly closesConnections: boolean;
  /** The image's STOPSIGNAL; SIGTERM if the image does not set it, `undefined` if it is unknown. */
  readonly signalOf: (image: Image) => string | undefined;
  readonly note: string;
};

/**
 * In tests nginx 1.22.1, HAProxy 2.6.12, Apache httpd 2.4.71 (docs/systems.md), Envoy 1.40.0 and Varnish 7.1.1 dropped open
 * requests on SIGTERM. The source for PHP-FPM is its manual page, and for each STOPSIGNAL the image's history.
 */
export const STOP_SIGNALS: readonly StopSignalFact[] = [
  {
    images: ["nginx"],
    program: "nginx",
    gracefulSignal: "SIGQUIT",
    closesConnections: true,
    // Some nginx images from 1.9.0 to 1.12, such as 1.12.0, set STOPSIGNAL SIGQUIT.
    signalOf: (image) =>
      isBefore(image, [1, 9, 0]) || (isBefore(image, [1, 19, 5]) && !isBefore(image, [1, 13, 0]))
        ? "SIGTERM"
        : "SIGQUIT",
    note: "the official image sets STOPSIGNAL SIGQUIT since 1.19.5",
  },
  {
    images: ["nginxinc/nginx-unprivileged"],
    program: "nginx",
    gracefulSignal: "SIGQUIT",
    closesConnections: true,
    signalOf: (image) => (isBefore(image, [1, 19, 5]) ? "SIGTERM" : "SIGQUIT"),
    note: "the image sets STOPSIGNAL SIGQUIT since 1.19.5",
  },
  {
    images: ["openresty/openresty"],
    program: "OpenResty",
    gracefulSignal: "SIGQUIT",
    closesConnections: false,
    signalOf: () => "SIGQUIT",
    note: "the image sets STOPSIGNAL SIGQUIT since 1.13.6.2-2",
  },
  {
    images: ["kong", "kong/kong", "kong/kong-gateway"],
    program: "Kong",
    gracefulSignal: "SIGQUIT",
    closesConnections: false,
    signalOf: (image) => (isBefore(image, [1, 2, 0]) ? "SIGTERM" : "SIGQUIT"),
    note: "the official image sets STOPSIGNAL SIGQUIT since 1.2.0",
  },
  {
    images: ["httpd"],
    program: "Apache httpd",
    gracefulSignal: "SIGWINCH",
    closesConnections: true,
    signalOf: (image) => (isBefore(image, [2, 4, 41]) ? "SIGTERM" : "SIGWINCH"),
    note: "the official image sets STOPSIGNAL SIGWINCH since 2.4.41",
  },
  {
    images: ["php"],
    program: "PHP-FPM",
    gracefulSignal: "SIGQUIT",
    closesConnections: false,
    // PHP images without FPM, which contain a web server or only the command line, set other signals.
    signalOf: (image) => {
      if (!image.tag.includes("fpm")) return undefined;
      return isBefore(image, [7, 1, 0]) ? "SIGTERM" : "SIGQUIT";
    },
    note: "the official images of 7.1 and later set STOPSIGNAL SIGQUIT since April 2019",
  },
  {
    images: ["haproxy"],
    program: "HAProxy",
    gracefulSignal: "SIGUSR1",
    closesConnections: true,
    // The last images of versions 1.5 to 1.7 were rebuilt with SIGUSR1 under the same tags.
    signalOf: (image) =>
      isBefore(image, [1, 8, 13]) &&
      image.version?.[2] !== undefined &&
      !/^1\.(?:5\.19|6\.14|7\.11)(?![0-9])/.test(image.tag)
        ? "SIGTERM"
        : "SIGUSR1",
    note: "the official image sets STOPSIGNAL SIGUSR1 since 1.8.13",
  },
  {
    images: ["envoyproxy/envoy", "envoyproxy/envoy-distroless", "envoyproxy/envoy-contrib", "envoyproxy/envoy-alpine"],
    program: "Envoy",
    gracefulSignal: undefined,
    closesConnections: false,
    signalOf: () => "SIGTERM",
    note: "no signal drains Envoy; only a request to its admin port does",
  },
  {
    images: ["varnish"],
    program: "Varnish",
    gracefulSignal: undefined,
    closesConnections: false,
    signalOf: () => "SIGTERM",
    note: "no signal drains Varnish",
  },
];

/** Returns the signal that the kubelet sends first; `undefined` if the image is unknown and the container does not set it. */
export function stopSignalOf(container: RawObject): string | undefined {
  const signal = textAt(objectAt(container, "lifecycle"), "stopSignal");
  if (signal !== undefined) return signal;
  const image = parseImage(textAt(container, "image") ?? "");
  return stopSignalFactOf(image)?.signalOf(image);
}

export function stopSignalFactOf({ repository }: Image): StopSignalFact | undefined {
  return STOP_SIGNALS.find(({ images }) => images.includes(repository));
}
