import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TUGIBasedProcessor;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.security.TUGIContainingTransport;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;

/**
 * The Hive Metastore, on loopback. Handler, processor, thrift server and database are Hive's own, put together as
 * HiveMetaStore.startMetaStore does without SASL, TLS or compact protocol; that one listens on every address and cannot
 * be told otherwise before Hive 4.
 *
 * Arguments: the port (0: any free one), the file that is told the port. The configuration is found in
 * METASTORE_CONF_DIR.
 */
public class LoopbackMetastore {
    public static void main(String[] arguments) {
        Lifeline.hold();
        try {
            serve(arguments);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1); // threads of the database would keep the JVM alive
        }
    }

    static void serve(String[] arguments) throws Exception {
        Configuration conf = MetastoreConf.newMetastoreConf();
        IHMSHandler handler =
            RetryingHMSHandler.getProxy(conf, new HiveMetaStore.HMSHandler("metastore", conf, false), false);

        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), Integer.parseInt(arguments[0])), 128);
        TThreadPoolServer.Args settings = new TThreadPoolServer.Args(new TServerSocket(socket));
        settings.processor(new TUGIBasedProcessor(handler));
        settings.transportFactory(new TUGIContainingTransport.Factory());
        settings.protocolFactory(new TBinaryProtocol.Factory());
        settings.minWorkerThreads(4);
        settings.maxWorkerThreads(256);
        TServer server = new TThreadPoolServer(settings);
        Runtime.getRuntime().addShutdownHook(new CloseDerby());
        Lifeline.listening(arguments[1], socket.getLocalPort());
        server.serve();
    }

    /** Without it the next start begins with a recovery of the database. */
    static class CloseDerby extends Thread {
        public void run() {
            try {
                DriverManager.getConnection("jdbc:derby:;shutdown=true");
            } catch (SQLException closed) {
                System.err.println("database closed: " + closed.getMessage());
            }
        }
    }
}
