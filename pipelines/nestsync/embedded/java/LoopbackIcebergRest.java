import java.io.FileInputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.gzip.GzipHandler;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/**
 * Iceberg's REST reference server, on loopback. The servlet, the adapter and the catalog behind them are Iceberg's own;
 * only its RESTCatalogServer is replaced, because that one listens on every address and cannot be told otherwise.
 *
 * Arguments: a properties file for the catalog, the port (0: any free one), the file that is told the port.
 */
public class LoopbackIcebergRest {
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
        Properties read = new Properties();
        FileInputStream file = new FileInputStream(arguments[0]);
        read.load(file);
        file.close();
        Map properties = new HashMap(read);
        Catalog catalog = CatalogUtil.buildIcebergCatalog("rest_backend", properties, new Configuration());

        ServletContextHandler context = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
        context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
        context.insertHandler(new GzipHandler());

        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[1]));
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        Lifeline.listening(arguments[2], connector.getLocalPort());
        server.join();
    }
}
