import java.io.FileInputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Iceberg's REST reference server 1.11, which runs on another Jetty than 1.10, on loopback. The servlet, the adapter and
 * the catalog behind them are Iceberg's own.
 *
 * Arguments: a properties file for the catalog, the port (0: any free one), the file that is told the port.
 */
public class LoopbackIcebergRest11 {
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
