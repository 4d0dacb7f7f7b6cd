
/** What both servers share: they say where they listen, and end when whoever started them is gone. */
final class Lifeline {
    /** Ends this JVM, with its shutdown hooks, once standard input closes: at a stop, or when the parent died. */
    static void hold() {
        Thread watcher = new Thread("lifeline") {
            public void run() {
                try {
                    while (System.in.read() >= 0) { }
                } catch (java.io.IOException gone) {
                    System.err.println("the lifeline broke: " + gone);
                }
                System.exit(0);
            }
        };
        watcher.setDaemon(true);
        watcher.start();
    }

    /** Writes the port into a file, in one step, so that a reader never sees half of it. */
    static void listening(String file, int port) throws java.io.IOException {
        java.nio.file.Path written = java.nio.file.Paths.get(file + ".new", new String[0]);
        java.nio.file.Files.write(written, String.valueOf(port).getBytes(), new java.nio.file.OpenOption[0]);
        java.nio.file.Files.move(written, java.nio.file.Paths.get(file, new String[0]),
            new java.nio.file.CopyOption[] {java.nio.file.StandardCopyOption.ATOMIC_MOVE});
    }
}
